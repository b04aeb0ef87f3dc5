#if PostgreSQL
import ModelRuntime

/// A column that gets its values from one of another name.
private struct Renaming {
  let old: String
  let new: String
}

extension StoreCatalogue {
  /// Gives properties that a step between two versions renames the values of their original names, also where others have
  /// the new names so far: two exchange them, or one lets go of its own.
  ///
  /// 1. Columns whose new name is free are renamed, one after the other: that may make another name free.
  /// 2. The others, which are in a circle or have a name that is given up, get their values from one another in one
  ///    statement. Constraints and indexes, which are known by the names of columns, stay where they are.
  ///
  /// Only where columns are of one type: others are left as they are, which is refused afterwards.
  mutating func rename(
    columnsOf descriptor: ModelDescriptor,
    since former: ModelDescriptor
  ) throws {
    let entity = descriptor.entityName
    var renamings = MappedColumn.columns(of: descriptor).compactMap { column -> Renaming? in
      guard let old = formerName(of: column, in: descriptor), old != column.name,
        columns[entity]?[old] == column.kind.declaration, isNew(column, of: descriptor, former)
      else { return nil }
      return Renaming(old: old, new: column.name)
    }
    while let place = renamings.firstIndex(where: { columns[entity]?[$0.new] == nil }) {
      let renaming = renamings.remove(at: place)
      try renameColumn(renaming.old, to: renaming.new, of: entity)
    }
    renamings.removeAll { columns[entity]?[$0.new] != columns[entity]?[$0.old] }
    if renamings.isEmpty { return }
    let values = renamings.map { "\($0.new.quotedName) = \($0.old.quotedName)" }
    try change("UPDATE \(name(entity)) SET \(values.joined(separator: ", "))")
  }

  /// Whether a property got its name in this step: its original name stays with it in later versions.
  private func isNew(
    _ column: MappedColumn,
    of descriptor: ModelDescriptor,
    _ former: ModelDescriptor
  ) -> Bool {
    let owner =
      column.position < descriptor.properties.count
      ? column.position : descriptor.rankColumns.first { $0.value == column.position }?.key
    guard let property = owner.map({ descriptor.properties[$0] }) else { return false }
    guard let same = former.property(named: property.name) else { return true }
    return same.originalName != property.originalName
      && former.property(named: property.originalName ?? "") != nil
  }
}
#endif

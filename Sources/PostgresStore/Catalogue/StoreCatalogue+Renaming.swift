#if PostgreSQL
import ModelRuntime
import RowFormat

/// A column that gets its values from one of another name.
struct Renaming {
  let old: String
  let new: String
  /// Whether the column of the new name has values of the same property already.
  var isTakenUp = false
}

extension StoreCatalogue {
  /// Gives properties the values of their original names, even if others have the new names so far: two exchange them,
  /// or one gives up its own.
  ///
  /// 1. Columns whose new name is free are renamed, one after the other: that may make another name free.
  /// 2. The others, which are in a circle or have a name that is given up, get their values from one another in one
  ///    statement. Constraints and indexes, which are known by the names of columns, stay where they are. Only a step
  ///    between two versions shows that this is to be done.
  /// 3. The history gets the new names.
  ///
  /// Columns of different types are not exchanged, but left as they are, which is refused afterwards.
  ///
  /// - Parameters:
  ///   - descriptor: The class whose columns are renamed.
  ///   - before: The columns in the models before.
  /// - Returns: The renamings that were made.
  /// - Throws: ``PostgresStoreError``.
  mutating func rename(
    columnsOf descriptor: ModelDescriptor,
    since before: FormerColumns
  ) throws -> [Renaming] {
    let (entity, former) = (descriptor.entityName, before.descriptor)
    var renamings = MappedColumn.columns(of: descriptor).compactMap { column -> Renaming? in
      guard let old = formerName(of: column, in: descriptor), old != column.name,
        columns[entity]?[old] != nil,
        former.map({ isNew(column, of: descriptor, $0) }) ?? true,
        !before.gone.contains(old)
      else { return nil }
      return Renaming(old: old, new: column.name)
    }
    var done: [Renaming] = []
    while let place = renamings.firstIndex(where: { columns[entity]?[$0.new] == nil }) {
      let renaming = renamings.remove(at: place)
      try MappedTable.check(renaming.new)
      try renameColumn(renaming.old, to: renaming.new, of: entity)
      done.append(renaming)
    }
    if former != nil {
      renamings.removeAll { columns[entity]?[$0.new] != columns[entity]?[$0.old] }
      let taken = renamings.filter { !before.has($0.new) }
      done += try takeUp(taken, of: descriptor)
      renamings.removeAll { !before.has($0.new) }
      try exchange(renamings, of: entity)
      done += renamings
    }
    try changeHistory(of: entity, renaming: done)
    return done
  }

  /// Gives a column a name that is free, also in the history.
  mutating func rename(_ renaming: Renaming, of entity: String) throws {
    try renameColumn(renaming.old, to: renaming.new, of: entity)
    try changeHistory(of: entity, renaming: [renaming])
  }

  /// Gives properties the values that an older version, which had taken the store back, has saved under their original
  /// names.
  ///
  /// A row that it has not saved shows its default, and keeps the value that the newer version has left under the new name.
  private mutating func takeUp(
    _ renamings: [Renaming],
    of descriptor: ModelDescriptor
  ) throws -> [Renaming] {
    if renamings.isEmpty { return [] }
    let entity = descriptor.entityName
    let own = Set(MappedColumn.columns(of: descriptor).map(\.name))
    var values: [String] = []
    for renaming in renamings {
      let (old, new) = (renaming.old.quotedName, renaming.new.quotedName)
      if own.contains(renaming.old) {
        // A new property has the original name, and nothing tells which of the two a value is of.
        values.append("\(new) = COALESCE(\(new), \(old))")
        continue
      }
      try dropObjects(of: renaming.old, in: entity)
      let shown = try storedDefault(of: renaming.old, in: entity) ?? "NULL"
      values.append(
        "\(new) = CASE WHEN \(old) IS DISTINCT FROM \(shown) THEN \(old) ELSE COALESCE(\(new), \(old)) END"
      )
    }
    try update(entity, values)
    // The column would be taken for what the older version has saved once more.
    for old in renamings.map(\.old) where !own.contains(old) {
      try change("ALTER TABLE \(name(entity)) DROP COLUMN \(old.quotedName)")
      columns[entity]?[old] = nil
    }
    return renamings.map { Renaming(old: $0.old, new: $0.new, isTakenUp: true) }
  }

  /// The value of a column in rows that were added without it, as a constant of SQL.
  private func storedDefault(of column: String, in entity: String) throws -> String? {
    let question = Statement(
      "SELECT pg_get_expr(d.adbin, d.adrelid) FROM pg_attrdef d JOIN pg_attribute a ON a.attrelid = d.adrelid "
        + "AND a.attnum = d.adnum WHERE d.adrelid = to_regclass($1) AND a.attname = $2"
    ) {
      $0.append(name(entity))
      $0.append(column)
    }
    let result = try connection.run([question])[0]
    return result.rowCount == 0 ? nil : result.optionalText(0, 0)
  }

  /// Gives columns the values of one another.
  private mutating func exchange(_ renamings: [Renaming], of entity: String) throws {
    if renamings.isEmpty { return }
    let values = renamings.map { "\($0.new.quotedName) = \($0.old.quotedName)" }
    try update(entity, values)
  }

  private mutating func update(_ entity: String, _ values: [String]) throws {
    try change(
      // A row that another session adds meanwhile would keep its values as they are.
      "LOCK TABLE \(name(entity)) IN ACCESS EXCLUSIVE MODE",
      "UPDATE \(name(entity)) SET \(values.joined(separator: ", "))"
    )
  }

  /// Renames a column, and drops the constraints and indexes that its former name tells: another column may get that name.
  private mutating func renameColumn(
    _ former: String,
    to name: String,
    of entity: String
  ) throws {
    try dropObjects(of: former, in: entity)
    try change(
      "ALTER TABLE \(self.name(entity)) RENAME COLUMN \(former.quotedName) TO \(name.quotedName)"
    )
    noteRenaming(of: former, to: name, in: entity)
  }

  /// Drops the objects that the store has made for a column; those that the new names need are made with the rest.
  mutating func dropObjects(of column: String, in entity: String) throws {
    let objects = Statement(
      "SELECT c.relname::text, k.conname::text FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
        + "JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attname = $2 "
        + "LEFT JOIN pg_constraint k ON k.conindid = i.indexrelid AND k.conrelid = i.indrelid "
        + "WHERE i.indrelid = to_regclass($1) AND NOT i.indisprimary AND (a.attnum = ANY (i.indkey) "
        + "OR EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_class'::regclass "
        + "AND d.objid = i.indexrelid AND d.refclassid = 'pg_class'::regclass "
        + "AND d.refobjid = i.indrelid AND d.refobjsubid = a.attnum)) ORDER BY 1"
    ) {
      $0.append(name(entity))
      $0.append(column)
    }
    let result = try connection.run([objects])[0]
    for row in 0..<result.rowCount where isOwnObject(result.text(row, 0), of: entity) {
      if let constraint = result.optionalText(row, 1) {
        try change("ALTER TABLE \(name(entity)) DROP CONSTRAINT \(constraint.quotedName)")
      } else {
        try change("DROP INDEX \(name(result.text(row, 0)))")
      }
      forgetObject(result.text(row, 0), of: entity)
    }
  }

  /// Gives the changes of an entity the new names of its properties: in lists of updated properties, and in the preserved
  /// values of deleted models.
  ///
  /// - Parameters:
  ///   - entity: The entity.
  ///   - renamings: The renamings, all at once.
  ///   - forgotten: The properties to be removed from the history.
  /// - Throws: ``PostgresStoreError``.
  /// - Complexity: O(changes in the history).
  func changeHistory(
    of entity: String,
    renaming renamings: [Renaming] = [],
    forgetting forgotten: [String] = []
  ) throws {
    guard let number = numbers[entity], !renamings.isEmpty || !forgotten.isEmpty else { return }
    let rows = MappedTable.references(of: number)
    let old = renamings.map(\.old)
    // A name that another property takes is given up by the one that had it.
    let taken = renamings.filter { !$0.isTakenUp }.map(\.new)
    let gone = forgotten + taken.filter { !old.contains($0) }
    let name = "COALESCE(($2::text[])[array_position($1::text[], n)], n)"
    let statement = Statement(
      "UPDATE \(self.name(HistoryPartitions.parent)) SET columns = CASE WHEN columns IS NOT NULL THEN "
        + "ARRAY(SELECT \(name) FROM unnest(columns) WITH ORDINALITY AS u (n, o) "
        + "WHERE n <> ALL ($3::text[]) ORDER BY o) END, "
        + "preserved = (SELECT jsonb_object_agg(\(name), v) FROM jsonb_each(preserved) AS p (n, v) "
        + "WHERE n <> ALL ($3::text[])) WHERE row BETWEEN $4 AND $5 "
        + "AND (columns && ($1::text[] || $3::text[]) OR preserved ?| ($1::text[] || $3::text[]))"
    ) {
      $0.append(old)
      $0.append(renamings.map(\.new))
      $0.append(gone)
      $0.append(Int64(bitPattern: rows.lowerBound.rawValue))
      $0.append(Int64(bitPattern: rows.upperBound.rawValue))
    }
    _ = try connection.run([statement])
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

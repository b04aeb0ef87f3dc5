import LogEngine
import ModelRuntime
import RowFormat

/// Turns what commits did to rows into what happened to models; for one reader at a time.
///
/// The decoder adds what the log does not say in so many words:
/// - A row that was written whole is compared with what it was before. Where compaction has taken that, every
///   property counts as set: a reader may look once too often, and never once too seldom.
/// - A list that is made of its members changes when a member comes, goes or moves: its owner then has an
///   update of its own. The former owner is found in the member's earlier row, as long as that can be read.
final class HistoryDecoder {
  private let store: TableStore
  private var entities: [EntityHistory?] = []
  private var found: [Found] = []
  /// The owners of lists that changed, and the lists.
  private var owners: [RowReference: ColumnSet] = [:]

  private struct Found {
    let entity: EntityHistory
    let kind: Kind
    let reference: RowReference
    var properties = ColumnSet()
    var preserved: [(ordinal: Int, value: any Sendable)] = []

    enum Kind { case insert, update, delete }
  }

  init(_ store: TableStore) {
    self.store = store
    for table in store.tables {
      while entities.count <= Int(table.number) { entities.append(nil) }
      entities[Int(table.number)] = EntityHistory(table, storeIdentifier: store.identifier)
    }
  }

  /// The changes of a commit; none, if it changed no model of the schema.
  ///
  /// - Throws: ``LogStoreError``, or what the engine throws.
  func changes(of commit: LoggedCommit) throws -> [HistoryChange] {
    found.removeAll(keepingCapacity: true)
    owners.removeAll(keepingCapacity: true)
    try commit.forEachRowChange { change, bytes in
      guard let entity = entity(change.reference.table) else { return }
      try read(change, bytes, entity, commit)
    }
    if !owners.isEmpty { enterOwners() }
    let number = Int64(bitPattern: commit.sequence.rawValue)
    var changes: [HistoryChange] = []
    changes.reserveCapacity(found.count)
    for (place, found) in found.enumerated() {
      let identifier = HistoryChangeMaker.changeIdentifier(place, of: number)
      let (maker, key) = (found.entity.changes, found.reference.key)
      switch found.kind {
      case .insert: changes.append(maker.insert(key, identifier))
      case .update: changes.append(maker.update(key, identifier, found.properties))
      case .delete: changes.append(maker.delete(key, identifier, preserving: found.preserved))
      }
    }
    return changes
  }

  /// Whether a commit changed a model that is in the store and not in the schema.
  func changesOtherModels(_ commit: LoggedCommit) throws -> Bool {
    var isFound = false
    try commit.forEachRowChange { change, _ in
      let table = change.reference.table
      isFound = isFound || entity(table) == nil && store.engine.catalogue.table(table) != nil
    }
    return isFound
  }

  private func entity(_ table: UInt16) -> EntityHistory? {
    Int(table) < entities.count ? entities[Int(table)] : nil
  }

  /// Gives the owners of lists their updates; an owner that was inserted or deleted in the same commit needs none.
  private func enterOwners() {
    for index in found.indices {
      guard let lists = owners.removeValue(forKey: found[index].reference) else { continue }
      found[index].properties.formUnion(lists)
    }
    for (owner, lists) in owners.sorted(by: { $0.key < $1.key }) {
      guard let entity = entity(owner.table) else { continue }
      found.append(Found(entity: entity, kind: .update, reference: owner, properties: lists))
    }
  }
}

// MARK: One change

extension HistoryDecoder {
  private func read(
    _ change: LoggedRowChange,
    _ bytes: RawSpan,
    _ entity: EntityHistory,
    _ commit: LoggedCommit
  ) throws {
    let key = change.reference.key
    switch change.kind {
    case .insert:
      let layout = try entity.layout(change.layout, key: key)
      found.append(Found(entity: entity, kind: .insert, reference: change.reference))
      for membership in layout.memberships {
        touch(layout.target(membership.column, in: bytes), membership)
      }
    case .delta:
      let layout = try entity.layout(change.layout, key: key)
      guard let columns = RowDelta.changedColumns(of: bytes, layout: layout.layout) else {
        throw LogStoreError.unreadableRow(
          entity: entity.table.descriptor.entityName,
          key: key
        )
      }
      record(change, layout.properties(of: columns), entity)
      try recordMoves(change, columns, bytes, layout, entity, commit)
    case .image:
      try readImage(change, bytes, entity, commit)
    case .delete:
      var deletion = Found(entity: entity, kind: .delete, reference: change.reference)
      if change.layout != .none {
        let layout = try entity.layout(change.layout, key: key)
        deletion.preserved = preserved(bytes, layout, entity)
      }
      found.append(deletion)
      try touchFormerOwners(change, entity, commit)
    }
  }

  /// Enters an update, unless all the properties it changed are gone from the class.
  private func record(_ change: LoggedRowChange, _ properties: ColumnSet, _ entity: EntityHistory) {
    if properties.isEmpty { return }
    found.append(
      Found(entity: entity, kind: .update, reference: change.reference, properties: properties)
    )
  }

  private func readImage(
    _ change: LoggedRowChange,
    _ row: RawSpan,
    _ entity: EntityHistory,
    _ commit: LoggedCommit
  ) throws {
    let key = change.reference.key
    let layout = try entity.layout(change.layout, key: key)
    let difference = try commit.withRow(before: change) { before, number in
      let former = try entity.layout(number, key: key)
      let properties = layout.difference(of: row, from: before, former)
      for membership in layout.memberships {
        guard let ordinal = layout.ordinals[membership.column], properties.contains(ordinal) else {
          continue
        }
        touch(layout.target(membership.column, in: row), membership)
      }
      for membership in former.memberships {
        guard let ordinal = former.ordinals[membership.column], properties.contains(ordinal) else {
          continue
        }
        touch(former.target(membership.column, in: before), membership)
      }
      return properties
    }
    if difference == nil {
      for membership in layout.memberships {
        touch(layout.target(membership.column, in: row), membership)
      }
    }
    record(change, difference ?? layout.everything, entity)
  }

  /// Records a change of each list that a row left, joined, or moved within.
  private func recordMoves(
    _ change: LoggedRowChange,
    _ columns: ColumnSet,
    _ delta: RawSpan,
    _ layout: LayoutHistory,
    _ entity: EntityHistory,
    _ commit: LoggedCommit
  ) throws {
    let moved = layout.memberships.filter { membership in
      columns.contains(membership.column) || membership.rank.map(columns.contains) ?? false
    }
    if moved.isEmpty { return }
    for membership in moved {
      touch(RowDelta.reference(membership.column, in: delta, layout: layout.layout), membership)
    }
    _ = try commit.withRow(before: change) { before, _ in
      // A delta is in the layout of what it changes.
      for membership in moved { touch(layout.target(membership.column, in: before), membership) }
    }
  }

  private func touchFormerOwners(
    _ change: LoggedRowChange,
    _ entity: EntityHistory,
    _ commit: LoggedCommit
  ) throws {
    if !entity.hasOwners { return }
    _ = try commit.withRow(before: change) { before, number in
      let layout = try entity.layout(number, key: change.reference.key)
      for membership in layout.memberships {
        touch(layout.target(membership.column, in: before), membership)
      }
    }
  }

  private func touch(_ owner: RowReference?, _ membership: LayoutHistory.Membership) {
    guard let owner else { return }
    owners[owner, default: ColumnSet()].insert(membership.list)
  }

  /// The values that a deletion preserved.
  private func preserved(
    _ row: RawSpan,
    _ layout: LayoutHistory,
    _ entity: EntityHistory
  ) -> [(ordinal: Int, value: any Sendable)] {
    var values: [(ordinal: Int, value: any Sendable)] = []
    let properties = entity.table.descriptor.properties
    for (column, ordinal) in layout.ordinals.enumerated() {
      guard let ordinal, !layout.layout.isNull(column, in: row),
        let value = properties[ordinal].historyValue(in: row, layout.layout, column)
      else { continue }
      values.append((ordinal, value))
    }
    return values
  }
}

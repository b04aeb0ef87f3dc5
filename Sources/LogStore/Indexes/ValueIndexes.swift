import Foundation
import LogEngine
import ModelRuntime
import RowFormat

/// The indexes that fetches look values up in: what `#Index` declares, and what is unique besides.
///
/// An index of a table is made by one scan the first time a fetch can use it, and kept in step by every save from
/// then on; one that nobody uses costs nothing. A save enters new values before its commit and takes old ones out
/// after it, so an index may name a row too many, and never one too few: whoever uses it tests the rows.
final class ValueIndexes: @unchecked Sendable {
  /// A row that is kept under something else after a save.
  struct Change {
    let index: Int
    let row: RowReference
    let old: IndexEntry?
    let new: IndexEntry?
  }

  /// A save under way.
  final class Save {
    fileprivate let changes: [Change]
    fileprivate init(_ changes: [Change]) { self.changes = changes }
  }

  /// Which indexes exist, and as of when: a save that began earlier does not know the newer ones.
  struct Standing {
    fileprivate let time: Int
    let built: [Int]

    static let nothing = Standing(time: 0, built: [])
  }

  let definitions: [IndexDefinition]
  private let byTable: [UInt16: [Int]]
  private let condition = NSCondition()
  // Guarded by the condition, as is what follows.
  private var indexes: [ValueIndex?]
  private var builtAt: [Int]
  private var time = 0
  private var saves: [Save] = []

  init(_ schema: Schema, tables: [EntityTable]) {
    var definitions: [IndexDefinition] = []
    for table in tables {
      let lineage = schema.entitiesByName[table.descriptor.entityName]?.lineage ?? []
      let lists = lineage.flatMap { $0.indices + $0.uniquenessConstraints }
      var known: Set<[Int]> = []
      for list in lists {
        guard let definition = IndexDefinition(list, in: table) else { continue }
        if known.insert(definition.columns.map(\.number)).inserted {
          definitions.append(definition)
        }
      }
    }
    self.definitions = definitions
    byTable = Dictionary(grouping: definitions.indices) { definitions[$0].table }
    indexes = definitions.map { _ in nil }
    builtAt = definitions.map { _ in 0 }
  }

  /// The indexes of a table, by number.
  func indexes(of table: UInt16) -> [Int] { byTable[table] ?? [] }

  func removeAll() {
    condition.lock()
    while !saves.isEmpty { condition.wait() }
    indexes = definitions.map { _ in nil }
    condition.unlock()
  }
}

// MARK: Saving

extension ValueIndexes {
  /// The indexes a save has to keep in step.
  var standing: Standing {
    if definitions.isEmpty { return .nothing }
    condition.lock()
    defer { condition.unlock() }
    return Standing(time: time, built: indexes.indices.filter { indexes[$0] != nil })
  }

  /// Enters the new values of a save, before it is committed; ``end(_:committed:in:)`` must follow.
  func begin(_ changes: [Change], seen standing: Standing) -> Save {
    condition.lock()
    defer { condition.unlock() }
    // An index made since the save began lacks the save's rows: it is made again when it is wanted.
    for index in indexes.indices where builtAt[index] > standing.time { indexes[index] = nil }
    let save = Save(changes)
    saves.append(save)
    for change in changes {
      if let new = change.new { indexes[change.index]?.insert(change.row, new) }
    }
    return save
  }

  /// Takes out what is no longer so.
  func end(_ save: Save, committed: Bool, in store: TableStore) {
    condition.lock()
    defer { condition.unlock() }
    saves.removeAll { $0 === save }
    for change in save.changes {
      guard let gone = committed ? change.old : change.new, indexes[change.index] != nil else {
        continue
      }
      // What the row has now, by this save or by another; and what other saves are about to give it.
      let current = entry(of: change, in: store)
      if gone == current || isAwaited(gone, change) { continue }
      indexes[change.index]?.remove(change.row, gone, keeping: current)
    }
    condition.broadcast()
  }

  private func isAwaited(_ entry: IndexEntry, _ change: Change) -> Bool {
    saves.contains { save in
      save.changes.contains {
        $0.row == change.row && $0.index == change.index
          && ($0.new?.prefix == entry.prefix || $0.new?.hash == entry.hash)
      }
    }
  }

  private func entry(of change: Change, in store: TableStore) -> IndexEntry? {
    guard let layout = store.table(numbered: change.row.table)?.layout else { return nil }
    return try? store.withRow(at: change.row) { definitions[change.index].entry(of: $0, layout) }
  }
}

// MARK: Looking up

extension ValueIndexes {
  /// The rows of a table that can have certain values, in key order; `nil` if no index names so few.
  func rows(
    matching lookups: [ValueLookup],
    in table: EntityTable,
    of store: TableStore,
    atMost greatestCount: Int
  ) throws -> [RowReference]? {
    let rowCount = store.engine.rowCount(of: table.number)
    guard rowCount > ValueIndexes.smallTable else { return nil }
    condition.lock()
    defer { condition.unlock() }
    var best: [RowReference]?
    for number in indexes(of: table.number) {
      guard let use = IndexUse(definitions[number], lookups) else { continue }
      try build(number, from: store)
      let limit = min(best?.count ?? .max, greatestCount)
      if let rows = indexes[number].flatMap({ use.rows(in: $0, atMost: limit) }) {
        best = rows
      }
    }
    return best.map { Array(Set($0)).sorted() }
  }

  /// The rows of a table in the order of a column, as of now; `nil` if no index keeps that order.
  func order(of column: Int, in table: EntityTable, of store: TableStore) throws -> (
    index: IndexDefinition, rows: OrderedRows
  )? {
    let number = indexes(of: table.number).first { definitions[$0].columns[0].number == column }
    guard let number, store.engine.rowCount(of: table.number) > ValueIndexes.smallTable else {
      return nil
    }
    condition.lock()
    defer { condition.unlock() }
    try build(number, from: store)
    return indexes[number].map { (definitions[number], $0.ordered) }
  }

  /// Up to how many rows a table is scanned without a thought.
  private static var smallTable: Int { 64 }

  private func build(_ number: Int, from store: TableStore) throws {
    while indexes[number] == nil {
      if !saves.isEmpty {
        condition.wait()
        continue
      }
      let definition = definitions[number]
      guard let table = store.table(numbered: definition.table) else { return }
      var entries: [(RowReference, IndexEntry)] = []
      entries.reserveCapacity(store.engine.rowCount(of: table.number))
      try store.engine.scan(table.number) { key, layout, row in
        try table.withCurrentRow(row, layout: layout, key: key) { row in
          entries.append(
            (RowReference(table: table.number, key: key), definition.entry(of: row, table.layout))
          )
        }
        return .proceed
      }
      indexes[number] = ValueIndex(definition, entries)
      time += 1
      builtAt[number] = time
    }
  }
}

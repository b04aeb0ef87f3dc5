import LogEngine
import ModelRuntime
import RowFormat

extension TableStore {
  /// Makes the changes that `body` writes one commit.
  func save(author: String?, _ body: (any RowChangeSink) throws -> Void) throws {
    let sink = CommitSink(self, author: author)
    try body(sink)
    try perform(.saving) { try sink.commit() }
  }
}

/// Turns the changes of a save into a batch of the engine, and notes what indexes will have to learn.
private final class CommitSink: RowChangeSink {
  private let store: TableStore
  private var batch: CommitBatch
  private var moves: [Move] = []
  /// The indexed columns of the table of the last change; changes come table by table.
  private var indexed: (table: UInt16, columns: [Int]) = (0, [])
  private var keys = KeyChanges()
  private var rules: (table: UInt16, rules: [UniqueIndexes.Rule]) = (0, [])

  /// A row that now refers to another row than before.
  private struct Move {
    let name: ReferenceIndexes.Name
    let key: UInt64
    let old: RowReference?
    let new: (target: RowReference, rank: Int64)?
  }

  init(_ store: TableStore, author: String?) {
    self.store = store
    batch = store.engine.makeBatch()
    batch.author = author
  }

  func commit() throws {
    if keys.isEmpty {
      _ = try store.engine.commit(&batch)
    } else {
      let claim = try store.uniqueIndexes.claim(keys, in: store)
      do {
        _ = try store.engine.commit(&batch)
      } catch {
        store.uniqueIndexes.finish(claim, committed: false)
        throw error
      }
      store.uniqueIndexes.finish(claim, committed: true)
    }
    for move in moves {
      store.indexes.update(move.name) { index in
        if let old = move.old { index.remove(move.key, target: old) }
        if let new = move.new { index.insert(move.key, rank: new.rank, target: new.target) }
      }
    }
  }

  func insert(_ reference: RowReference, row: RawSpan) {
    guard let table = store.table(numbered: reference.table) else { return }
    batch.insert(reference, layout: table.layoutNumber, row: row)
    for rule in rules(of: reference.table) {
      keys.insert(row, reference, rule.number, rule.columns, table.layout)
    }
    for column in indexedColumns(of: reference.table) {
      guard let new = target(of: row, column, in: table) else { continue }
      moves.append(
        Move(
          name: .init(table: table.number, column: column),
          key: reference.key,
          old: nil,
          new: new
        )
      )
    }
  }

  func update(
    _ reference: RowReference,
    changed: ColumnSet,
    row: RawSpan,
    previous: RawSpan?
  ) {
    guard let table = store.table(numbered: reference.table) else { return }
    for column in indexedColumns(of: reference.table) where changed.contains(column) {
      moves.append(
        Move(
          name: .init(table: table.number, column: column),
          key: reference.key,
          old: storedTarget(of: reference, column, in: table),
          new: target(of: row, column, in: table)
        )
      )
    }
    noteKeys(of: reference, changed: changed, row: row, in: table)
    batch.update(
      reference,
      layout: table.layoutNumber,
      changed: changed,
      row: row
    )
  }

  func delete(_ reference: RowReference) {
    guard let table = store.table(numbered: reference.table) else { return }
    for column in indexedColumns(of: reference.table) {
      guard let old = storedTarget(of: reference, column, in: table) else { continue }
      moves.append(
        Move(
          name: .init(table: table.number, column: column),
          key: reference.key,
          old: old,
          new: nil
        )
      )
    }
    for rule in rules(of: reference.table) { freeKey(of: reference, rule, in: table) }
    batch.delete(reference)
  }

  // MARK: Unique keys

  private func rules(of table: UInt16) -> [UniqueIndexes.Rule] {
    if rules.table != table { rules = (table, store.uniqueIndexes.rules(of: table)) }
    return rules.rules
  }

  private func noteKeys(
    of reference: RowReference,
    changed: ColumnSet,
    row: RawSpan,
    in table: EntityTable
  ) {
    for rule in rules(of: reference.table)
    where rule.columns.contains(where: { changed.contains($0) }) {
      freeKey(of: reference, rule, in: table)
      keys.insert(row, reference, rule.number, rule.columns, table.layout)
      keys.dropLastIfUnchanged()
    }
  }

  private func freeKey(
    of reference: RowReference,
    _ rule: UniqueIndexes.Rule,
    in table: EntityTable
  ) {
    // A row that cannot be read fails the commit, which says so.
    _ = try? store.withRow(at: reference) { row in
      keys.remove(row, reference, rule.number, rule.columns, table.layout)
    }
  }

  // MARK: References

  private func indexedColumns(of table: UInt16) -> [Int] {
    if indexed.table != table { indexed = (table, store.indexes.columns(of: table)) }
    return indexed.columns
  }

  private func target(
    of row: RawSpan,
    _ column: Int,
    in table: EntityTable
  ) -> (target: RowReference, rank: Int64)? {
    table.target(of: row, column)
  }

  private func storedTarget(
    of reference: RowReference,
    _ column: Int,
    in table: EntityTable
  ) -> RowReference? {
    try? store.withRow(at: reference) { row in table.target(of: row, column)?.target } ?? nil
  }
}

extension EntityTable {
  /// The row that a to-one column names, and the rank beside it.
  func target(of row: RawSpan, _ column: Int) -> (target: RowReference, rank: Int64)? {
    guard !layout.isNull(column, in: row) else { return nil }
    var rank: Int64 = 0
    if let rankColumn = descriptor.rankColumns[column], !layout.isNull(rankColumn, in: row) {
      rank = layout.integer(rankColumn, in: row)
    }
    return (layout.reference(column, in: row), rank)
  }
}

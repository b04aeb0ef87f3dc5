import LogEngine
import ModelRuntime
import RowFormat
import SchedulePoints
import Synchronization

extension TableStore {
  /// Makes the changes that `body` writes one commit.
  ///
  /// - Returns: The bookmark behind it; `nil` if nothing was written.
  @discardableResult
  func save(
    author: String?,
    _ body: (any RowChangeSink) throws -> Void
  ) throws -> DefaultHistoryToken? {
    let sink = spareSink.take() ?? CommitSink(self)
    sink.begin(author: author)
    try body(sink)
    let sequence = try perform(.saving) {
      do {
        SchedulePoint.beforeClaim.reach()
        return try sink.commit()
      } catch let error as StorageError {
        // Deleted by another context, or between the fetch and the save: the context knows what to do.
        if case .rowNotFound(let reference) = error { throw VanishedRow(reference) }
        throw error
      }
    }
    if sink.isWorthKeeping { spareSink.keep(sink) }
    return sequence.map(history.token)
  }
}

/// Keeps what collects a save's changes until the next save: most are small, and its memory is most of what they
/// would allocate.
final class SpareSink: Sendable {
  private let sink = Mutex<CommitSink?>(nil)

  func take() -> CommitSink? { sink.withLock { $0.take() } }
  func keep(_ used: CommitSink) { sink.withLock { $0 = used } }
}

/// Turns the changes of a save into a batch of the engine, and notes what indexes will have to learn.
///
/// Used by one save at a time.
final class CommitSink: RowChangeSink, @unchecked Sendable {
  // The store keeps the sink, and only its own saves use it: nothing need be counted for each row.
  private unowned(unsafe) let store: TableStore
  private var batch: CommitBatch
  private var moves: [Move] = []
  private var keys = KeyChanges()
  private var references = ReferenceChanges()
  /// The table of the last change; changes come table by table.
  private var current: Target?
  private var touched: [Target] = []
  private var standing = ValueIndexes.Standing.nothing
  private var values: [ValueIndexes.Change] = []

  /// A table, and what is to be done for each of its rows.
  private final class Target {
    let table: EntityTable
    /// The to-one columns whose other ends are indexed.
    let indexed: [Int]
    let rules: [UniqueIndexes.Rule]
    let built: [(Int, IndexDefinition)]
    /// The to-one columns that may not lead to rows that are gone.
    let checked: [Int]
    /// Whether rows of other tables can refer to the rows.
    let canBeReferredTo: Bool

    init(_ table: EntityTable, in store: TableStore, _ standing: ValueIndexes.Standing) {
      let definitions = store.valueIndexes.definitions
      self.table = table
      indexed = store.indexes.columns(of: table.number)
      rules = store.uniqueIndexes.rules(of: table.number)
      checked = table.checkedReferences
      canBeReferredTo = !store.referrers(of: table.number).isEmpty
      built = standing.built.filter { definitions[$0].table == table.number }
        .map { ($0, definitions[$0]) }
    }

    /// Whether an index or a rule is about columns of which some are changed, and some are not.
    func hasKeysPartly(in changed: ColumnSet) -> Bool {
      func isPartly(_ columns: some Collection<Int>) -> Bool {
        columns.contains(where: changed.contains) && !columns.allSatisfy(changed.contains)
      }
      return rules.contains { isPartly($0.columns) }
        || built.contains { isPartly($0.1.columns.lazy.map(\.number)) }
    }
  }
  /// How much the save has written.
  private var changeCount = 0
  private var byteCount = 0

  /// A row that now refers to another row than before.
  private struct Move {
    let name: ReferenceIndexes.Name
    let key: UInt64
    let old: RowReference?
    let new: (target: RowReference, rank: Int64)?
  }

  init(_ store: TableStore) {
    self.store = store
    batch = store.engine.makeBatch()
  }

  /// Starts a save; what indexes there are may have changed since the last.
  func begin(author: String?) {
    batch.author = author
    standing = store.valueIndexes.standing
    moves.removeAll(keepingCapacity: true)
    values.removeAll(keepingCapacity: true)
    keys = KeyChanges()
    references.removeAll()
    current = nil
    touched.removeAll(keepingCapacity: true)
    changeCount = 0
    byteCount = 0
  }

  /// Whether the sink holds no more memory than it should until the next save.
  var isWorthKeeping: Bool { changeCount <= 1024 && byteCount <= 1 << 20 }

  /// - Returns: The commit; `nil` if there was nothing to be written.
  func commit() throws -> CommitSequence? {
    let isEmpty = batch.isEmpty
    let sequence: CommitSequence
    if keys.isEmpty || PlantedFault.unclaimedKeys.isPlanted {
      sequence = try commitReferences()
    } else {
      let claim = try store.uniqueIndexes.claim(keys, in: store)
      do {
        sequence = try commitReferences()
      } catch {
        store.uniqueIndexes.finish(claim, committed: false, in: store)
        throw error
      }
      store.uniqueIndexes.finish(claim, committed: true, in: store)
    }
    return isEmpty ? nil : sequence
  }

  private func commitReferences() throws -> CommitSequence {
    if references.isEmpty { return try commitMoves() }
    let claim = store.referenceClaims.claim(references)
    defer { store.referenceClaims.finish(claim) }
    if !PlantedFault.danglingReferences.isPlanted,
      let dangling = try references.findDangling(in: store)
    {
      throw dangling
    }
    return try commitMoves()
  }

  private func commitMoves() throws -> CommitSequence {
    let sequence = try commitValues()
    // An index made since the save began, perhaps by the save's own check, lacks the save's rows.
    for target in touched {
      store.indexes.forgetIndexes(of: target.table.number, otherThan: target.indexed)
    }
    for move in moves where !PlantedFault.unindexedSave.isPlanted {
      store.indexes.update(move.name) { index in
        if let old = move.old { index.remove(move.key, target: old) }
        if let new = move.new { index.insert(move.key, rank: new.rank, target: new.target) }
      }
    }
    return sequence
  }

  private func commitValues() throws -> CommitSequence {
    if store.valueIndexes.definitions.isEmpty { return try store.engine.commit(&batch) }
    let save = store.valueIndexes.begin(values, seen: standing)
    let sequence: CommitSequence
    do {
      sequence = try store.engine.commit(&batch)
    } catch {
      store.valueIndexes.end(save, committed: false, in: store)
      throw error
    }
    store.valueIndexes.end(save, committed: true, in: store)
    return sequence
  }

  func insert(_ reference: RowReference, row: RawSpan) {
    guard let target = target(reference.table) else { return }
    let table = target.table
    batch.insert(reference, layout: table.layoutNumber, row: row)
    noteChange(row.byteCount)
    for rule in target.rules {
      keys.insert(row, reference, rule.number, rule.columns, table.layout)
    }
    for (number, definition) in target.built {
      let new = definition.entry(of: row, table.layout)
      values.append(ValueIndexes.Change(index: number, row: reference, old: nil, new: new))
    }
    if target.canBeReferredTo || !target.checked.isEmpty {
      references.noteInsertion(of: reference)
    }
    for column in target.checked {
      guard let new = table.target(of: row, column) else { continue }
      references.note(reference, column, new.target)
    }
    for column in target.indexed {
      guard let new = table.target(of: row, column) else { continue }
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
    row: RawSpan
  ) {
    guard let target = target(reference.table) else { return }
    let table = target.table
    for column in target.checked where changed.contains(column) {
      references.note(reference, column, table.target(of: row, column)?.target)
    }
    for column in target.indexed where changed.contains(column) {
      moves.append(
        Move(
          name: .init(table: table.number, column: column),
          key: reference.key,
          old: storedTarget(of: reference, column, in: table),
          new: table.target(of: row, column)
        )
      )
    }
    if target.hasKeysPartly(in: changed) {
      withNewestRow(of: reference, in: table, changed, row) {
        noteValues(of: reference, changed: changed, row: $0, in: target)
      }
    } else {
      noteValues(of: reference, changed: changed, row: row, in: target)
    }
    batch.update(
      reference,
      layout: table.layoutNumber,
      changed: changed,
      row: row
    )
    noteChange(row.byteCount)
  }

  /// Lends a changed row as it will be: with the newest values of the columns that this save does not change.
  private func withNewestRow(
    of reference: RowReference,
    in table: EntityTable,
    _ changed: ColumnSet,
    _ row: RawSpan,
    _ body: (RawSpan) -> Void
  ) {
    var writer = RowWriter(capacity: row.byteCount + 256)
    // A row that cannot be read fails the commit, which says so.
    _ = try? store.withRow(at: reference) { newest in
      writer.begin(table.layout)
      for column in 0..<table.layout.count {
        if changed.contains(column) {
          writer.copy(column, from: row, column: column, layout: table.layout)
        } else {
          writer.copy(column, from: newest, column: column, layout: table.layout)
        }
      }
      let range = writer.finish()
      body(writer.bytes.extracting(range))
    }
  }

  private func noteValues(
    of reference: RowReference,
    changed: ColumnSet,
    row: RawSpan,
    in target: Target
  ) {
    noteKeys(of: reference, changed: changed, row: row, in: target)
    for (number, definition) in target.built
    where definition.columns.contains(where: { changed.contains($0.number) }) {
      let old = storedEntry(of: reference, definition, in: target.table)
      let new = definition.entry(of: row, target.table.layout)
      values.append(ValueIndexes.Change(index: number, row: reference, old: old, new: new))
    }
  }

  func delete(_ reference: RowReference) {
    guard let target = target(reference.table) else { return }
    let table = target.table
    for column in target.indexed {
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
    references.noteDeletion(
      of: reference,
      canBeReferredTo: target.canBeReferredTo,
      canRefer: !target.checked.isEmpty
    )
    for rule in target.rules { freeKey(of: reference, rule, in: table) }
    for (number, definition) in target.built {
      let old = storedEntry(of: reference, definition, in: table)
      values.append(ValueIndexes.Change(index: number, row: reference, old: old, new: nil))
    }
    if table.preservedColumns.isEmpty || !deletePreserving(reference, in: table) {
      batch.delete(reference)
    }
    noteChange(0)
  }

  /// The table of a change, looked up if it is not that of the last one; `nil` if the store has no such table.
  private func target(_ number: UInt16) -> Target? {
    if let current, current.table.number == number { return current }
    current =
      touched.first { $0.table.number == number }
      ?? store.table(numbered: number).map { Target($0, in: store, standing) }
    if let current, !touched.contains(where: { $0 === current }) { touched.append(current) }
    return current
  }

  private func noteChange(_ byteCount: Int) {
    changeCount += 1
    self.byteCount += byteCount
  }

  /// Deletes a row, and has the log keep what its entity wants to be remembered.
  ///
  /// - Returns: `false` if there is nothing to be kept, because the row cannot be read.
  private func deletePreserving(_ reference: RowReference, in table: EntityTable) -> Bool {
    var writer = RowWriter()
    let preserved = try? store.withRow(at: reference) { row in
      writer.begin(table.layout)
      for column in table.preservedColumns {
        writer.copy(column, from: row, column: column, layout: table.layout)
      }
      return writer.finish()
    }
    guard let preserved else { return false }
    batch.delete(
      reference,
      layout: table.layoutNumber,
      preserving: writer.bytes.extracting(preserved)
    )
    return true
  }

  func addBlob(_ bytes: RawSpan) throws -> BlobReference? {
    guard bytes.byteCount > store.blobThreshold else { return nil }
    return try store.perform(.saving) { try batch.addBlob(bytes) }
  }

  // MARK: Unique keys

  private func noteKeys(
    of reference: RowReference,
    changed: ColumnSet,
    row: RawSpan,
    in target: Target
  ) {
    for rule in target.rules where rule.columns.contains(where: { changed.contains($0) }) {
      freeKey(of: reference, rule, in: target.table)
      keys.insert(row, reference, rule.number, rule.columns, target.table.layout)
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

  // MARK: Indexed values

  private func storedEntry(
    of reference: RowReference,
    _ definition: IndexDefinition,
    in table: EntityTable
  ) -> IndexEntry? {
    try? store.withRow(at: reference) { definition.entry(of: $0, table.layout) }
  }

  // MARK: References

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

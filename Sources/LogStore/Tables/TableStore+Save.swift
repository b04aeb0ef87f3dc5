import Locking
import LogEngine
import ModelRuntime
import RowFormat
import SchedulePoints

extension TableStore {
  /// Makes the changes that `body` writes one commit.
  ///
  /// - Parameters:
  ///   - author: The author of the changes in the history.
  ///   - deletions: The condition that rows must still meet when the commit deletes them.
  ///   - derived: Receives the rows that the commit changes only because attributes of theirs are derived.
  ///   - kept: Keeps the rows that are to be deleted until the next attempt, if there are references to them.
  ///   - hasLockedEnds: Whether the thread has locked the ends of relationships: then it waits for no save that has precedence.
  ///   - announcement: Told the rows of the commit before they are visible.
  ///   - body: Writes them.
  /// - Returns: The bookmark behind it; `nil` if nothing was written.
  /// - Throws: `DanglingReferences`, `RowClashes`, `RowConflicts`, `RenewedRows` or `VanishedRow` for an obstacle, or a
  ///   storage error.
  @discardableResult
  func save(
    author: String?,
    deletions: DeletionCondition? = nil,
    derived: DerivedRows? = nil,
    kept: KeptClaim? = nil,
    hasLockedEnds: Bool = false,
    announcement: (any CommitAnnouncing)? = nil,
    _ body: (any RowChangeSink) throws -> Void
  ) throws -> DefaultHistoryToken? {
    try checkTakesChanges()
    if kept == nil, !hasLockedEnds { engine.giveWay() }
    let sink = spareSink.take() ?? CommitSink(self)
    sink.begin(author: author, deletions: deletions, kept: kept, announcement)
    let sequence = try perform(.saving) {
      // No other process changes meanwhile what is checked and written.
      try engine.inTurn {
        try body(sink)
        do {
          SchedulePoint.beforeClaim.reach()
          return try sink.commit()
        } catch let error as StorageError {
          // Deleted by another context, or between the fetch and the save: the context knows what to do.
          guard case .rowNotFound(let reference) = error else { throw error }
          // The commit that did may have its number and still wait for the disk. A context that then looks for what is left
          // must not find the row, or anything else that the commit deletes.
          SchedulePoint.afterVanishing.reach()
          try engine.makeAppendedVisible()
          throw VanishedRow(reference)
        }
      }
    }
    derived?.updated = sink.derivedRows
    if sink.isWorthKeeping { spareSink.keep(sink) }
    if TableStore.checksIndexes {
      try checkIndexes()
      try checkLists()
      try checkDerivedAttributes()
    }
    return sequence.map(history.token)
  }
}

/// Keeps the sink of a save's changes until the next save: most saves are small, and its memory is most of what they
/// would allocate.
final class SpareSink: Sendable {
  private let sink = Lock<CommitSink?>(nil, .spareSink)

  func take() -> CommitSink? { sink.withLock { $0.take() } }
  func keep(_ used: CommitSink) { sink.withLock { $0 = used } }
}

/// Turns the changes of a save into a batch of the engine, and sees them into the indexes.
///
/// Used by one save at a time.
final class CommitSink: RowChangeSink, RowRevising, ReferenceExpecting, ValueExpecting,
  CommitExpecting, @unchecked Sendable
{
  // Not counted: the store keeps the sink, and only its own saves use it.
  @safe private unowned(unsafe) let store: TableStore
  @safe @exclusivity(unchecked) private var batch: CommitBatch
  @safe @exclusivity(unchecked) private var references = ReferenceChanges()
  /// The table of the last change; changes come table by table.
  @safe @exclusivity(unchecked) private var current: Target?
  private var touched: [Target] = []
  @safe @exclusivity(unchecked) private var check = ReferenceCheck.everything
  /// The number of changes that the save has written, and their bytes.
  @safe @exclusivity(unchecked) private var changeCount = 0
  @safe @exclusivity(unchecked) private var byteCount = 0
  /// Keeps the deleted rows until the next attempt, if there are references to them.
  private var kept: KeptClaim?
  /// The changed rows, if somebody wants to know them.
  @safe @exclusivity(unchecked) private var announced: ChangedRows?
  private let indexing: CommitIndexing
  /// Computes derived attributes, if any class has some.
  private let derived: DerivedChanges?

  /// The check of the references that a save leaves.
  enum ReferenceCheck {
    case everything
    /// All rows are deleted, so that nothing can refer to any of them.
    case nothing
  }

  /// A table, and what is to be done for each of its rows.
  private final class Target {
    let table: EntityTable
    /// The to-one columns that may not lead to rows that are gone.
    let checked: [Int]
    /// Whether rows of other tables can refer to the rows.
    let canBeReferredTo: Bool

    init(_ table: EntityTable, in store: TableStore) {
      self.table = table
      checked = table.checkedReferences
      canBeReferredTo = !store.referrers(of: table.number).isEmpty
    }
  }

  init(_ store: TableStore) {
    self.store = store
    batch = store.engine.makeBatch()
    derived = store.derivations.map { DerivedChanges(store, $0) }
    indexing = CommitIndexing(store, derived)
  }

  /// The rows that the commit changed only because attributes of theirs are derived.
  var derivedRows: [RowReference] { derived?.updatedOwners ?? [] }

  /// Has the rows of this save written as they are, with the derived attributes that they have.
  func trustDerivedAttributes() { derived?.isTrusting = true }

  /// Starts a save.
  func begin(
    author: String?,
    keeping check: ReferenceCheck = .everything,
    deletions: DeletionCondition? = nil,
    kept: KeptClaim? = nil,
    _ announcement: (any CommitAnnouncing)? = nil
  ) {
    self.kept = kept
    indexing.announcement = announcement
    announced = announcement.map { _ in ChangedRows() }
    batch.author = author
    indexing.deletions = deletions
    self.check = check
    references.removeAll()
    derived?.begin()
    changeCount = 0
    byteCount = 0
  }

  /// Whether the sink holds no more memory than it should until the next save.
  var isWorthKeeping: Bool { changeCount <= 1024 && byteCount <= 1 << 20 }

  /// - Returns: The commit; `nil` if there was nothing to be written.
  func commit() throws -> CommitSequence? {
    let isEmpty = batch.isEmpty && derived?.isPending != true
    defer {
      derived?.release()
      kept = nil
      announced = nil
      indexing.announcement = nil
    }
    let sequence: CommitSequence
    if references.isEmpty {
      try derived?.finish(into: &batch)
      sequence = try indexing.commit(&batch, announcing: announced)
    } else {
      let claim = store.referenceClaims.claim(references, keptBy: kept)
      var keeper: KeptClaim?
      defer { store.referenceClaims.finish(claim, keeping: keeper) }
      if check == .everything, !PlantedFault.danglingReferences.isPlanted,
        let dangling = try references.findDangling(in: store)
      {
        if !dangling.toDeletedRows.isEmpty { keeper = kept }
        throw dangling
      }
      try derived?.finish(into: &batch)
      sequence = try indexing.commit(&batch, announcing: announced)
    }
    return isEmpty ? nil : sequence
  }

  func insert(_ reference: RowReference, row: RawSpan) {
    guard let target = target(reference.table) else { return }
    let table = target.table
    if let derived {
      derived.insert(reference, table, row, into: &batch)
    } else {
      batch.insert(reference, layout: table.layoutNumber, row: row)
    }
    recordChange(row.byteCount)
    announced?.inserted.append(reference)
    if target.canBeReferredTo || !target.checked.isEmpty {
      references.recordInsertion(of: reference)
    }
    for column in target.checked {
      guard let new = table.target(of: row, column) else { continue }
      references.record(reference, column, new)
    }
  }

  func update(_ reference: RowReference, changed: ColumnSet, row: RawSpan) {
    guard let target = target(reference.table) else { return }
    let table = target.table
    for column in target.checked where changed.contains(column) {
      references.record(reference, column, table.target(of: row, column))
    }
    if let derived {
      derived.update(reference, table, changed, row, into: &batch)
    } else {
      batch.update(reference, in: table, changed: changed, row: row)
    }
    recordChange(row.byteCount)
    announced?.updated.append(reference)
  }

  func revise(
    _ rows: [RowReference],
    changed: ColumnSet,
    _ body: (RowReference, inout RowWriter) -> Bool
  ) throws -> [RowReference] {
    // Derived attributes and references to rows that may be deleted take a row at a time.
    guard let first = rows.first, let target = target(first.table), derived == nil,
      !target.checked.contains(where: changed.contains)
    else { return rows }
    let number = first.table
    let rest = try batch.revise(
      number,
      keys: rows.map(\.key),
      layout: target.table.layoutNumber,
      changed: changed
    ) { key, row in
      let reference = RowReference(table: number, key: key)
      guard body(reference, &row) else { return false }
      recordChange(row.count)
      announced?.updated.append(reference)
      return true
    }
    return rest.map { RowReference(table: number, key: $0) }
  }

  /// Sets references to nil in the newest versions of their rows, without reading whole rows.
  ///
  /// - Parameter references: The references; the commit fails with ``MovedReference`` if one has another target by then.
  /// - Returns: Those that have to be sent with their rows: of rows with several of them, for example.
  /// - Throws: An error of reading a row.
  func clear(
    _ references: [DanglingReferences.Reference]
  ) throws -> [DanglingReferences.Reference] {
    if derived != nil { return references }
    let sorted = references.sorted { $0.row < $1.row }
    var rest: [DanglingReferences.Reference] = []
    var single: [DanglingReferences.Reference] = []
    single.reserveCapacity(sorted.count)
    for index in sorted.indices {
      let row = sorted[index].row
      let isRepeated =
        index > 0 && sorted[index - 1].row == row
        || index + 1 < sorted.count && sorted[index + 1].row == row
      if isRepeated { rest.append(sorted[index]) } else { single.append(sorted[index]) }
    }
    while let first = single.first {
      func isAlike(_ other: DanglingReferences.Reference) -> Bool {
        other.row.table == first.row.table && other.column == first.column
      }
      // Most often there is one column.
      if single.allSatisfy(isAlike) {
        rest += try clearColumn(of: single)
        break
      }
      rest += try clearColumn(of: single.filter(isAlike))
      single.removeAll(where: isAlike)
    }
    return rest
  }

  // The same for references of one column, of ascending rows.
  private func clearColumn(
    of references: [DanglingReferences.Reference]
  ) throws -> [DanglingReferences.Reference] {
    guard let first = references.first, let target = target(first.row.table) else {
      return references
    }
    let (layout, column) = (target.table.layout, first.column)
    let cleared = [column] + [target.table.descriptor.rankColumns[column]].compactMap(\.self)
    // Of the columns from 63 on, a set of columns has all or none.
    if cleared.contains(where: { $0 >= 63 }) { return references }
    var changed = ColumnSet()
    for column in cleared { changed.insert(column) }
    var next = references.startIndex
    let isChecked = target.checked.contains(column)
    let rest = try batch.revise(
      first.row.table,
      keys: references.map(\.row.key),
      layout: target.table.layoutNumber,
      changed: changed
    ) { key, row in
      while references[next].row.key != key { next += 1 }
      let reference = references[next]
      guard !layout.isNull(column, in: row.bytes),
        layout.reference(column, in: row.bytes) == reference.target
      else { return false }
      for column in cleared { row.makeNull(column, of: layout, ofRowAt: 0) }
      if isChecked { self.references.record(reference.row, column, nil) }
      recordChange(row.count)
      announced?.updated.append(reference.row)
      return true
    }
    if rest.isEmpty {
      indexing.expect(references)
      return []
    }
    let left = Set(rest)
    indexing.expect(references.filter { !left.contains($0.row.key) })
    return references.filter { left.contains($0.row.key) }
  }

  func expectReference(of row: RowReference, _ column: Int, to target: RowReference) {
    indexing.expectReference(of: row, column, to: target)
  }

  func expectFirstCommit(after count: UInt64) { indexing.formerCommit = count }

  func expectValues(of row: RowReference, _ columns: [Int], from base: [UInt8]?) {
    indexing.expectValues(of: row, columns, from: base)
  }

  func delete(_ reference: RowReference) {
    guard let target = target(reference.table) else { return }
    let table = target.table
    references.recordDeletion(
      of: reference,
      canBeReferredTo: target.canBeReferredTo,
      canRefer: !target.checked.isEmpty
    )
    derived?.delete(reference, table)
    if table.preservedColumns.isEmpty || !deletePreserving(reference, in: table) {
      batch.delete(reference)
    }
    recordChange(0)
    announced?.deleted.append(reference)
  }

  /// The table of a change, looked up if it is not that of the last one; `nil` if the store has no such table.
  private func target(_ number: UInt16) -> Target? {
    if let current, current.table.number == number { return current }
    current = touched.first { $0.table.number == number }
    if current == nil, let table = store.table(numbered: number) {
      let target = Target(table, in: store)
      touched.append(target)
      current = target
    }
    return current
  }

  private func recordChange(_ byteCount: Int) {
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
}

extension EntityTable {
  /// The row that a to-one column names.
  func target(of row: RawSpan, _ column: Int) -> RowReference? {
    layout.isNull(column, in: row) ? nil : layout.reference(column, in: row)
  }
}

import LogEngine
import ModelRuntime
import RowFormat
import SchedulePoints

/// Keeps the indexes in step with one commit, and has it refused if a unique key is taken, if a reference is not the one that
/// a rule made nil, if a value is not the one it was to replace, or if a row no longer meets the condition for its deletion.
///
/// Used by one save at a time.
final class CommitIndexing: CommitParticipant {
  // Not counted: the store outlives its saves, as in their sink.
  @safe private unowned(unsafe) let store: TableStore
  /// The commit's changes to each index that must know of them; by table, as the changes come.
  @safe @exclusivity(unchecked) private var parts: [Part] = []
  @safe @exclusivity(unchecked) private var tables: [TablePart] = []
  @safe @exclusivity(unchecked) private var keys = UniqueKeyChanges()
  @safe @exclusivity(unchecked) private var claim: UniqueClaims.Claim?
  /// Number of registered indexes when the commit was prepared.
  @safe @exclusivity(unchecked) private var registrationCount = 0
  @safe @exclusivity(unchecked) private var failure: (any Error)?
  private var scratch: [UInt8] = []
  /// The references expected in the rows that the commit replaces, by row and column.
  @safe @exclusivity(unchecked) private var expected = ExpectedReferences()
  /// The values expected in the rows that the commit replaces.
  @safe @exclusivity(unchecked) private var values = ExpectedValues()
  /// The number of the newest commit there may be before this one; `nil` if any may be.
  @safe @exclusivity(unchecked) var formerCommit: UInt64?
  @safe @exclusivity(unchecked) private var isOvertaken = false
  /// The condition that the rows must still meet when the commit deletes them.
  @safe @exclusivity(unchecked) var deletions: DeletionCondition?
  /// The rows that do not.
  @safe @exclusivity(unchecked) private var renewed: [RowReference] = []
  /// Told the commit's number, and the rows that it changes, before they are visible.
  @safe @exclusivity(unchecked) var announcement: (any CommitAnnouncing)?
  @safe @exclusivity(unchecked) private var announced: ChangedRows?
  /// Whether anything was recorded since the last reset.
  @safe @exclusivity(unchecked) private var hasRecords = false

  /// One index, and the commit's changes to it.
  fileprivate struct Part {
    let index: LazyIndex
    var changes: [IndexChange] = []
    /// The key of an updated row before the update.
    var old: IndexKey?
  }

  /// A table that the commit has met, with the indexes and constraints that its rows matter to.
  ///
  /// A class, so that nothing of it is counted or copied for each row.
  private final class TablePart {
    let table: EntityTable
    /// Places among the parts, with the columns that matter there.
    let parts: [(place: Int, columns: ColumnSet)]
    let constraints: [(number: Int, columns: ColumnSet)]
    let columns: ColumnSet
    /// The keys of an updated row before the update, by place among the constraints.
    @safe @exclusivity(unchecked) var oldKeys: [UniqueKeyChanges.FormerKey]
    /// The test of rows that are deleted; `nil` if none of them is tested.
    let deletions: RowFilter?

    init(
      _ table: EntityTable,
      parts: [(place: Int, columns: ColumnSet)],
      constraints: [(number: Int, columns: ColumnSet)],
      columns: ColumnSet,
      deletions: RowFilter?
    ) {
      self.table = table
      self.parts = parts
      self.constraints = constraints
      self.columns = columns
      self.deletions = deletions
      oldKeys = constraints.map { _ in UniqueKeyChanges.FormerKey() }
    }
  }

  /// Told when the commit has its place, so that others that change the same totals can proceed.
  private let derived: DerivedChanges?

  init(_ store: TableStore, _ derived: DerivedChanges?) {
    self.store = store
    self.derived = derived
  }

  /// Commits a batch.
  ///
  /// - Parameters:
  ///   - batch: The batch.
  ///   - rows: The rows that it changes, but for those with derived attributes, if they are to be announced.
  /// - Returns: The commit's number; of the newest one, if the batch is empty.
  /// - Throws: `RowClashes`, or a storage error; then nothing is written.
  func commit(
    _ batch: inout CommitBatch,
    announcing rows: ChangedRows? = nil
  ) throws -> CommitSequence {
    announced = rows
    if let derived { announced?.updated += derived.updatedOwners }
    defer {
      reset()
      announced = nil
      if !expected.isEmpty { expected.removeAll() }
      values.removeAll()
      deletions = nil
      formerCommit = nil
    }
    failure = nil
    isOvertaken = false
    guard let sequence = try store.engine.commit(&batch, with: self) else {
      guard let failure else { preconditionFailure("a commit was given up without a reason") }
      throw failure
    }
    if !parts.isEmpty {
      store.indexes.settle(parts.map(\.index), in: store.engine)
      store.indexKeeper.noteChange()
      if KeptIndexes.areWritten(after: sequence.rawValue) {
        store.keepIndexes(handingOver: true)
      }
    }
    return sequence
  }

  private func reset() {
    if !hasRecords { return }
    hasRecords = false
    if let claim { store.uniqueClaims.finish(claim) }
    claim = nil
    parts.removeAll(keepingCapacity: true)
    tables.removeAll(keepingCapacity: true)
    keys.removeAll()
    renewed.removeAll()
    values.forgetConflicts()
  }

  /// Makes the commit fail with `MovedReference` if a row that it updates refers to any other row.
  ///
  /// The commit's number is given only if the rows it replaces are those that were looked at.
  func expectReference(of row: RowReference, _ column: Int, to target: RowReference) {
    expected.insert(row, column, target)
  }

  /// The same for references of one column, of ascending rows.
  func expect(_ references: [DanglingReferences.Reference]) { expected.insert(references) }

  /// Makes the commit fail with `RowConflicts` if a row that it updates has other values.
  func expectValues(of row: RowReference, _ columns: [Int], from base: [UInt8]?) {
    values.expect(row, columns, from: base)
  }

  // MARK: Taking part

  func prepare(_ batch: borrowing CommitBatch) -> CommitPreparation {
    do {
      return try prepared(batch)
    } catch {
      failure = error
      return .givenUp
    }
  }

  private func prepared(_ batch: borrowing CommitBatch) throws -> CommitPreparation {
    reset()
    if isOvertaken { throw OvertakenSave() }
    registrationCount = store.indexes.registrationCount
    if registrationCount == 0, store.indexes.constraints.isEmpty, expected.isEmpty,
      deletions == nil,
      values.isEmpty
    {
      return .ready
    }
    hasRecords = true
    let isCurrent = try batch.forEachChange(of: { columns(of: $0) }) {
      try record($0, $1, $2, $3, $4)
    }
    guard isCurrent else { return .outdated }
    if !renewed.isEmpty { throw RenewedRows(renewed) }
    if !values.conflicts.isEmpty { throw RowConflicts(values.conflicts) }
    if keys.isEmpty || PlantedFault.unclaimedKeys.isPlanted { return .ready }
    claim = store.uniqueClaims.claim(keys.names)
    let clashes = try keys.clashes(in: store)
    if !clashes.isEmpty { throw RowClashes(clashes) }
    return .ready
  }

  func take(_ sequence: CommitSequence) -> Bool {
    guard store.indexes.registrationCount == registrationCount else { return false }
    if let formerCommit, sequence.rawValue != formerCommit + 1 {
      isOvertaken = true
      return false
    }
    if PlantedFault.unindexedSave.isPlanted { return true }
    for part in parts { part.index.post(part.changes, of: sequence) }
    if let announced { announcement?.announce(announced, as: sequence.rawValue) }
    return true
  }

  func appended() { derived?.release() }

  // MARK: Noting changes

  /// The columns of a table that matter to an index; the table is the current one from now on.
  private func columns(of number: UInt16) -> ColumnSet {
    if let known = tables.lastIndex(where: { $0.table.number == number }) {
      // The last one is the current one.
      if known != tables.count - 1 { tables.swapAt(known, tables.count - 1) }
      return tables[tables.count - 1].columns
    }
    guard let table = store.table(numbered: number) else { return ColumnSet() }
    var columns = ColumnSet()
    var places: [(place: Int, columns: ColumnSet)] = []
    for index in store.indexes.registered(of: number) {
      columns.formUnion(index.columns)
      if let place = parts.firstIndex(where: { $0.index === index }) {
        places.append((place, index.columns))
      } else {
        places.append((parts.count, index.columns))
        parts.append(Part(index: index))
      }
    }
    let constraints = store.indexes.constraints(of: number).map {
      (number: $0, columns: store.indexes.unique[$0].columns)
    }
    for constraint in constraints { columns.formUnion(constraint.columns) }
    expected.insertColumns(of: number, ranks: table.descriptor.rankColumns, into: &columns)
    values.insertColumns(of: number, into: &columns)
    let filter = deletionFilter(of: table)
    // A row that is tested is wanted, whatever else is done for its table.
    if filter != nil { columns = .all }
    tables.append(
      TablePart(
        table,
        parts: places,
        constraints: constraints,
        columns: columns,
        deletions: filter
      )
    )
    return columns
  }

  /// The test of the rows of a table that the commit deletes.
  private func deletionFilter(of table: EntityTable) -> RowFilter? {
    guard let deletions, deletions.rows.contains(where: { $0.table == table.number }) else {
      return nil
    }
    return RowFilter(
      deletions.test,
      descriptor: table.descriptor,
      resolver: StoreResolver(store)
    )
  }

  /// Notes the key of one row, before the commit or after it.
  ///
  /// An index none of whose columns an update changes is not asked: the row stays where it is.
  private func record(
    _ reference: RowReference,
    _ side: RowSide,
    _ changed: ColumnSet,
    _ row: RawSpan,
    _ layout: LayoutNumber
  ) throws {
    let current = tables[tables.count - 1]
    let table = current.table
    try table.withCurrentRow(row, layout: layout, key: reference.key) { row in
      if side == .before, !expected.isEmpty {
        try expected.forEach(of: reference) { column, target in
          guard let found = table.target(of: row, column), found != target else { return }
          throw MovedReference(reference, column: column)
        }
      }
      if side == .before, !values.isEmpty { values.compare(row, reference, table.layout) }
      if side == .deleted, let filter = current.deletions,
        deletions?.rows.contains(reference) == true, try !filter.matches(row, reference)
      {
        renewed.append(reference)
        return
      }
      recordKeys(of: reference, side, changed, row, current)
      for (place, columns) in current.parts where !columns.isDisjoint(with: changed) {
        let key = parts[place].index.definition.key(of: row, table.layout, &scratch)
        switch side {
        case .before: parts[place].old = key
        case .inserted: parts[place].append(reference, from: nil, to: key)
        case .deleted: parts[place].append(reference, from: key, to: nil)
        case .after: parts[place].append(reference, from: parts[place].old, to: key)
        }
      }
    }
  }

  private func recordKeys(
    of reference: RowReference,
    _ side: RowSide,
    _ changed: ColumnSet,
    _ row: RawSpan,
    _ current: TablePart
  ) {
    let layout = current.table.layout
    for (place, constraint) in current.constraints.enumerated()
    where !constraint.columns.isDisjoint(with: changed) {
      let columns = store.indexes.constraints[constraint.number].columns
      switch side {
      case .inserted: keys.insert(row, reference, constraint.number, columns, layout)
      case .deleted: keys.remove(row, reference, constraint.number, columns, layout)
      case .before: current.oldKeys[place].take(columns, of: row, layout)
      case .after:
        let old = current.oldKeys[place]
        keys.replace(old, by: row, reference, constraint.number, columns, layout)
      }
    }
  }
}

extension CommitIndexing.Part {
  fileprivate mutating func append(_ row: RowReference, from old: IndexKey?, to new: IndexKey?) {
    if old != new { changes.append(IndexChange(row: row, old: old, new: new)) }
  }
}

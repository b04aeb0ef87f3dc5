#if PostgreSQL
import Foundation
import ModelRuntime
import RowFormat

/// Collects the changes of one save in runs: rows of one table that change in one way become one statement.
///
/// A graph of models comes as an owner, its members, the next owner, and so on, so several runs are open at a time. The history
/// has the order in which the changes came.
final class SaveBatch: RowChangeSink, UniformUpdating, ValueExpecting, ReferenceExpecting {
  private let tables: TableMap
  private let namespace: String
  private let texts: RunTexts
  /// The run that the last change belongs to.
  private var run: RowRun?
  /// The runs that may still grow: each of another kind, and no row in two of them.
  private var open: [RowRun] = []
  /// The rows of the open runs, if there are several.
  private var touched: Set<UInt64> = []
  /// The place of the next change in the save.
  private var ordinal = 0
  private(set) var changes: [RowRun] = []
  /// The first change that cannot be stored.
  private(set) var failure: (any Error)?
  /// The keys that rows get, by constraint.
  private(set) var keys: [KeyCheck]
  private(set) var references = ReferenceCheck()
  private(set) var expected = ExpectedValues()
  /// The changes of derived attributes; `nil` if there are none.
  private(set) var derivations: SaveDerivations?

  /// The approximate size of the values that one statement carries, in bytes.
  private static let runByteCount = 4 << 20
  /// The number of rows that one statement gives the same values: a statement has a limit in time.
  private static let assignedRowCount = 1 << 16
  /// The number of runs that are open at a time.
  private static let mostOpenRuns = 16

  init(_ tables: TableMap, namespace: String, _ texts: RunTexts) {
    self.tables = tables
    self.namespace = namespace
    self.texts = texts
    keys = tables.constraints.map { KeyCheck($0.constraint, $0.tables) }
    derivations = tables.derivations.map { SaveDerivations($0, tables) }
  }

  /// Ends the collecting.
  ///
  /// - Throws: ``PostgresStoreError/unstorableValue(entity:property:key:reason:)``.
  func finish() throws {
    if let failure { throw failure }
    endRuns()
  }

  var isEmpty: Bool { changes.isEmpty }

  /// Whether rows are changed whose new values only the server knows.
  var assigns: Bool { changes.contains { $0.kind == .assign } }

  var rowCount: Int { changes.reduce(0) { $0 + $1.rows.count } }

  /// The statements that make the changes and write them down in the history.
  ///
  /// - Parameter ordinal: The number of the first change within its transaction.
  /// - Returns: The statements, in the order of the runs.
  func statements(from ordinal: Int) -> [Statement] {
    changes.flatMap { $0.statements(from: ordinal, namespace: namespace, texts) }
  }

  // MARK: Collecting

  func insert(_ reference: RowReference, row: RawSpan) {
    if let table = tables.table(numbered: reference.table), failure == nil,
      let derived = derivations?.insert(reference, table, row)
    {
      derived.withUnsafeBytes { write(reference, inserted: $0.bytes) }
    } else {
      write(reference, inserted: row)
    }
  }

  func update(_ reference: RowReference, changed: ColumnSet, row: RawSpan) {
    var changed = changed
    if let table = tables.table(numbered: reference.table), failure == nil,
      let derived = derivations?.update(reference, table, &changed, row)
    {
      derived.withUnsafeBytes { write(reference, changed: changed, updated: $0.bytes) }
    } else {
      write(reference, changed: changed, updated: row)
    }
  }

  private func write(_ reference: RowReference, inserted row: RawSpan) {
    add(reference, .insert, row) { $0.columns }
    guard let table = run?.table, failure == nil else { return }
    references.recordInsertion(of: reference)
    for column in table.checkedReferences { recordTarget(column, of: row, reference, table) }
    for place in keys.indices where keys[place].covers(table) {
      add(place, reference, row, table)
    }
  }

  private func write(_ reference: RowReference, changed: ColumnSet, updated row: RawSpan) {
    add(reference, .update, row) { table in
      table.columns.filter { changed.contains($0.position) && table.isWritten($0, of: row) }
    }
    guard let table = run?.table, failure == nil else { return }
    for column in table.checkedReferences where changed.contains(column) {
      recordTarget(column, of: row, reference, table)
    }
    for place in keys.indices
    where keys[place].covers(table) && keys[place].constraint.isTouched(by: changed) {
      add(place, reference, row, table)
    }
  }

  func update(_ rows: [RowReference], _ change: UniformChange) -> Bool {
    guard let first = rows.first, failure == nil,
      let table = tables.table(numbered: first.table)
    else { return true }
    let columns = table.columns.filter { change.changed.contains($0.position) }
    guard !isWatched(table, change.changed), let added = RowRun.added(to: columns, by: change)
    else { return false }
    endRuns()
    for start in stride(from: 0, to: rows.count, by: SaveBatch.assignedRowCount) {
      let run = RowRun(.assign, table, columns, dates: [], adding: added)
      let some = rows[start...].prefix(SaveBatch.assignedRowCount)
      do {
        try change.values.withUnsafeBytes { try run.add(some[start], takeOrdinal(), $0.bytes) }
      } catch {
        // A value that cannot be stored, the same for each row: of the rows, a sum may be to blame before it.
        return false
      }
      for row in some.dropFirst() { run.add(row, takeOrdinal()) }
      changes.append(run)
    }
    return true
  }

  /// Whether a change of some columns has to be compared with other rows, or leads to others.
  private func isWatched(_ table: MappedTable, _ changed: ColumnSet) -> Bool {
    if keys.contains(where: { $0.covers(table) && $0.constraint.isTouched(by: changed) }) {
      return true
    }
    guard let plan = tables.derivations else { return false }
    return plan.owners[table.number] != nil
      || plan.members[table.number]?.contains { $0.isTouched(by: changed) } == true
  }

  func delete(_ reference: RowReference) {
    guard let table = tables.table(numbered: reference.table), failure == nil else { return }
    derivations?.delete(reference, table)
    begin(.delete, table, [], reference)
    run?.add(reference, takeOrdinal())
    if !tables.referrers(of: table.number).isEmpty { references.recordDeletion(of: reference) }
  }

  func expectValues(of row: RowReference, _ columns: [Int], from base: [UInt8]?) {
    if failure == nil { expected.add(row, columns, from: base) }
  }

  func expectReference(of row: RowReference, _ column: Int, to target: RowReference) {
    if failure == nil { expected.add(row, column, to: target) }
  }

  private func add(
    _ reference: RowReference,
    _ kind: RunKind,
    _ row: RawSpan,
    _ columns: (MappedTable) -> [MappedColumn]
  ) {
    guard let table = tables.table(numbered: reference.table), failure == nil else { return }
    begin(kind, table, columns(table), reference)
    do {
      try run?.add(reference, takeOrdinal(), row)
    } catch {
      failure = error
    }
  }

  /// Makes sure that the current run is one of a kind, to which a row can be added.
  private func begin(
    _ kind: RunKind,
    _ table: MappedTable,
    _ columns: [MappedColumn],
    _ row: RowReference
  ) {
    // Of two changes of a row, one has to be made first.
    if open.count > 1, !touched.insert(row.rawValue).inserted { endRuns() }
    if run?.isOf(kind, table, columns) != true {
      run = open.first { $0.isOf(kind, table, columns) }
      if run == nil { beginSecond(row) }
    }
    if let run, run.byteCount < SaveBatch.runByteCount { return }
    if run != nil || open.count == SaveBatch.mostOpenRuns { endRuns() }
    let new = RowRun(
      kind,
      table,
      columns,
      dates: tables.derivations?.owners[table.number]?.dates ?? []
    )
    open.append(new)
    run = new
  }

  /// Begins to remember rows, if there is one open run and a row goes to another.
  private func beginSecond(_ row: RowReference) {
    guard open.count == 1 else { return }
    touched = Set(open[0].rows.lazy.map { UInt64(bitPattern: $0) })
    if !touched.insert(row.rawValue).inserted { endRuns() }
  }

  private func endRuns() {
    changes += open
    open = []
    touched = []
    run = nil
  }

  private func takeOrdinal() -> Int {
    defer { ordinal += 1 }
    return ordinal
  }

  private func recordTarget(
    _ column: Int,
    of row: RawSpan,
    _ reference: RowReference,
    _ table: MappedTable
  ) {
    if table.layout.isNull(column, in: row) { return }
    let target = table.layout.reference(column, in: row)
    references.record(.init(row: reference, column: column, target: target))
  }

  private func add(
    _ place: Int,
    _ reference: RowReference,
    _ row: RawSpan,
    _ table: MappedTable
  ) {
    do {
      try keys[place].add(reference, row, table)
    } catch {
      failure = error
    }
  }
}

/// Rows of one table that are inserted, or get new values of the same columns, or are deleted.
///
/// Rows that get the same values have them once.
///
/// A class, so that it grows in place: to copy it for each row would count references of a dozen arrays.
final class RowRun {
  let kind: RunKind
  let table: MappedTable
  let columns: [MappedColumn]
  /// The columns whose values the rows have.
  private let given: [MappedColumn]
  /// The columns to which a number is added.
  private let added: [Added]
  /// The columns that get the time of the save.
  private let dated: [MappedColumn]
  private(set) var rows: [Int64] = []
  /// The places of the changes in the save, ascending.
  private var ordinals: [Int64] = []
  private var values: [ArrayParameter]
  /// The approximate size of the rows, in bytes.
  private(set) var byteCount = 0

  /// A number that is added to a column of all rows.
  struct Added {
    let column: MappedColumn
    let amount: NumberAddition
    let addition: ColumnAddition
  }

  /// - Parameters:
  ///   - kind: The change of the rows.
  ///   - table: Their table.
  ///   - columns: The columns that are written.
  ///   - dates: The positions of columns that say when a row was written.
  ///   - added: The numbers that are added to columns.
  init(
    _ kind: RunKind,
    _ table: MappedTable,
    _ columns: [MappedColumn],
    dates: [Int],
    adding added: [Added] = []
  ) {
    self.kind = kind
    self.table = table
    self.columns = columns
    self.added = added
    given = columns.filter { column in
      !dates.contains(column.position) && !added.contains { $0.column.position == column.position }
    }
    dated = columns.filter { dates.contains($0.position) }
    values = given.map { ArrayParameter($0.kind.parameterType) }
  }

  /// Returns the numbers that a change adds to columns; `nil` if one of them is not for the server to add.
  static func added(to columns: [MappedColumn], by change: UniformChange) -> [Added]? {
    var added: [Added] = []
    for column in columns {
      guard let (amount, nilStays) = change.additions[column.position] else { continue }
      guard let addition = ColumnAddition(amount, nilStays: nilStays) else { return nil }
      added.append(Added(column: column, amount: amount, addition: addition))
    }
    return added
  }

  /// Whether a change of a row belongs to this run.
  func isOf(_ kind: RunKind, _ table: MappedTable, _ columns: [MappedColumn]) -> Bool {
    guard table === self.table, kind == self.kind, columns.count == self.columns.count else {
      return false
    }
    // An insert writes all columns.
    return kind == .insert
      || columns.indices.allSatisfy { columns[$0].position == self.columns[$0].position }
  }

  /// Adds a row that is deleted, or that gets the values of the first row of the run.
  ///
  /// - Parameters:
  ///   - reference: The row.
  ///   - ordinal: The place of the change in the save.
  func add(_ reference: RowReference, _ ordinal: Int) {
    rows.append(Int64(bitPattern: reference.rawValue))
    ordinals.append(Int64(ordinal))
    byteCount += 2 * MemoryLayout<Int64>.size
  }

  /// Adds a row that is inserted or updated.
  ///
  /// - Parameters:
  ///   - reference: The row.
  ///   - ordinal: The place of the change in the save.
  ///   - row: Its new values.
  /// - Throws: ``PostgresStoreError/unstorableValue(entity:property:key:reason:)``.
  func add(_ reference: RowReference, _ ordinal: Int, _ row: RawSpan) throws {
    let former = byteCount
    var largest = (place: 0, byteCount: 0)
    for place in given.indices {
      let start = values[place].byteCount
      try table.append(given[place], of: row, reference, to: &values[place])
      let count = values[place].byteCount - start
      byteCount += count
      if count > largest.byteCount { largest = (place, count) }
    }
    if byteCount - former > table.valueLimit {
      throw table.unstorable(
        given[largest.place],
        of: reference,
        "the values of its row have \(byteCount - former) bytes, and PostgreSQL takes up to a gigabyte at once"
      )
    }
    add(reference, ordinal)
  }

  /// The statement that makes the changes, then the one that writes them down.
  ///
  /// - Parameters:
  ///   - start: The number of the save's first change within its transaction.
  ///   - namespace: The namespace.
  ///   - texts: The statements of the store.
  /// - Returns: One statement, or two.
  func statements(from start: Int, namespace: String, _ texts: RunTexts) -> [Statement] {
    // A delete writes down the values that its rows leave in the history, so both are one statement.
    if kind == .delete {
      return [deletion(from: start, "\(namespace.quotedName)._logstore_change")]
    }
    let key = RunTexts.Key(
      kind,
      table,
      numbering,
      given: given,
      dated: dated,
      added: added.map { ($0.column, $0.addition) }
    )
    let texts = texts.texts(of: key, in: table, namespace)
    let note = Statement(texts.note) {
      appendRows(to: &$0)
      appendOrdinals(from: start, to: &$0)
      if kind.isUpdate { $0.append(columns.map(\.name)) }
    }
    let change = Statement(texts.change) {
      appendRows(to: &$0)
      for value in values { append(value, to: &$0) }
      for added in added { ColumnAddition.append(added.amount, to: &$0) }
    }
    return [change, note]
  }

  /// Whether it is one row: the server reads values one by one in less time than arrays of one.
  private var isSingle: Bool { rows.count == 1 }

  private var numbering: RunTexts.Numbering {
    if isSingle { return .single }
    guard let first = ordinals.first, let last = ordinals.last else { return .successive }
    return last - first == Int64(ordinals.count - 1) ? .successive : .scattered
  }

  /// Appends the places of the changes within the transaction: the first one, if the others follow it.
  private func appendOrdinals(from start: Int, to parameters: inout Parameters) {
    if numbering == .scattered {
      parameters.append(ordinals.lazy.map { $0 + Int64(start) })
    } else {
      parameters.append(Int64(start) + (ordinals.first ?? 0))
    }
  }

  private func appendRows(to parameters: inout Parameters) {
    if isSingle { parameters.append(rows[0]) } else { parameters.append(rows) }
  }

  private func append(_ value: ArrayParameter, to parameters: inout Parameters) {
    if isSingle || kind == .assign {
      parameters.append(onlyElementOf: value)
    } else {
      parameters.append(value)
    }
  }

  private func deletion(from start: Int, _ history: String) -> Statement {
    let preserved = table.preservedColumns.flatMap {
      [$0.name.quotedText, "t.\($0.name.quotedName)"]
    }
    let values =
      preserved.isEmpty
      ? "NULL::jsonb" : "jsonb_build_object(\(preserved.joined(separator: ", ")))"
    let (place, places) =
      numbering == .scattered
      ? ("o", "unnest($1::bigint[], $2::bigint[])")
      : ("$2 + o - 1", "unnest($1::bigint[]) WITH ORDINALITY")
    return Statement(
      "WITH gone AS (DELETE FROM \(table.name) AS t WHERE \(MappedTable.key) = ANY ($1) "
        + "RETURNING \(MappedTable.key) AS k, \(values) AS p) "
        + "INSERT INTO \(history) (row, ordinal, kind, preserved) "
        + "SELECT k, \(place), 'delete', p FROM gone JOIN \(places) AS u(r, o) ON r = k"
    ) {
      $0.append(rows)
      appendOrdinals(from: start, to: &$0)
    }
  }
}
#endif

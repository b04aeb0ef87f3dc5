#if PostgreSQL
import Foundation
import ModelRuntime
import RowFormat

/// Collects the changes of one save, run by run: rows of one table that change in one way become one statement.
final class SaveBatch: RowChangeSink, ValueExpecting, ReferenceExpecting {
  private let tables: TableMap
  private let namespace: String
  private let texts: RunTexts
  private var run: RowRun?
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
    endRun()
  }

  var isEmpty: Bool { changes.isEmpty }

  var rowCount: Int { changes.reduce(0) { $0 + $1.rows.count } }

  /// The statements that make the changes and write them down in the history.
  ///
  /// - Parameter ordinal: The number of the first change within its transaction.
  /// - Returns: The statements, in the order of the changes.
  func statements(from ordinal: Int) -> [Statement] {
    var ordinal = ordinal
    return changes.flatMap { run in
      defer { ordinal += run.rows.count }
      return run.statements(ordinal: ordinal, namespace: namespace, texts)
    }
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

  func delete(_ reference: RowReference) {
    guard let table = tables.table(numbered: reference.table), failure == nil else { return }
    derivations?.delete(reference, table)
    begin(.delete, table, [])
    run?.add(reference)
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
    begin(kind, table, columns(table))
    do {
      try run?.add(reference, row)
    } catch {
      failure = error
    }
  }

  /// Makes sure that the current run is one of a kind.
  private func begin(_ kind: RunKind, _ table: MappedTable, _ columns: [MappedColumn]) {
    if let run, run.byteCount < SaveBatch.runByteCount, run.isOf(kind, table, columns) { return }
    endRun()
    run = RowRun(kind, table, columns, dates: tables.derivations?.owners[table.number]?.dates ?? [])
  }

  private func endRun() {
    if let run, !run.rows.isEmpty { changes.append(run) }
    run = nil
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
/// A class, so that it grows in place: to copy it for each row would count references of a dozen arrays.
final class RowRun {
  let kind: RunKind
  let table: MappedTable
  let columns: [MappedColumn]
  /// The columns whose values the rows have.
  private let given: [MappedColumn]
  /// The columns that get the time of the save.
  private let dated: [MappedColumn]
  private(set) var rows: [Int64] = []
  private var values: [ArrayParameter]
  /// The approximate size of the rows, in bytes.
  private(set) var byteCount = 0

  /// - Parameters:
  ///   - kind: The change of the rows.
  ///   - table: Their table.
  ///   - columns: The columns that are written.
  ///   - dates: The positions of columns that say when a row was written.
  init(_ kind: RunKind, _ table: MappedTable, _ columns: [MappedColumn], dates: [Int]) {
    self.kind = kind
    self.table = table
    self.columns = columns
    given = columns.filter { !dates.contains($0.position) }
    dated = columns.filter { dates.contains($0.position) }
    values = given.map { ArrayParameter($0.kind.parameterType) }
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

  func add(_ reference: RowReference) {
    rows.append(Int64(bitPattern: reference.rawValue))
    byteCount += MemoryLayout<Int64>.size
  }

  func add(_ reference: RowReference, _ row: RawSpan) throws {
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
    add(reference)
  }

  /// The statement that makes the changes, then the one that writes them down.
  func statements(ordinal: Int, namespace: String, _ texts: RunTexts) -> [Statement] {
    // A delete writes down the values that its rows leave in the history, so both are one statement.
    if kind == .delete {
      return [deletion(ordinal, "\(namespace.quotedName)._logstore_change")]
    }
    let key = RunTexts.Key(kind, table, isSingle: isSingle, given: given, dated: dated)
    let texts = texts.texts(of: key, in: table, namespace)
    let note = Statement(texts.note) {
      appendRows(to: &$0)
      $0.append(ordinal)
      if kind == .update { $0.append(columns.map(\.name)) }
    }
    let change = Statement(texts.change) {
      appendRows(to: &$0)
      for value in values { append(value, to: &$0) }
    }
    return [change, note]
  }

  /// Whether it is one row: the server reads values one by one in less time than arrays of one.
  private var isSingle: Bool { rows.count == 1 }

  private func appendRows(to parameters: inout Parameters) {
    if isSingle { parameters.append(rows[0]) } else { parameters.append(rows) }
  }

  private func append(_ value: ArrayParameter, to parameters: inout Parameters) {
    if isSingle { parameters.append(onlyElementOf: value) } else { parameters.append(value) }
  }

  private func deletion(_ ordinal: Int, _ history: String) -> Statement {
    let preserved = table.preservedColumns.flatMap {
      [$0.name.quotedText, "t.\($0.name.quotedName)"]
    }
    let values =
      preserved.isEmpty
      ? "NULL::jsonb" : "jsonb_build_object(\(preserved.joined(separator: ", ")))"
    return Statement(
      "WITH gone AS (DELETE FROM \(table.name) AS t WHERE \(MappedTable.key) = ANY ($1) "
        + "RETURNING \(MappedTable.key) AS k, \(values) AS p) "
        + "INSERT INTO \(history) (row, ordinal, kind, preserved) "
        + "SELECT k, $2 + o - 1, 'delete', p FROM gone "
        + "JOIN unnest($1::bigint[]) WITH ORDINALITY AS u(r, o) ON r = k"
    ) {
      $0.append(rows)
      $0.append(ordinal)
    }
  }
}
#endif

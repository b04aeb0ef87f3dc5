#if PostgreSQL
import Foundation
import ModelRuntime
import RowFormat

/// Collects the changes of one save, run by run: rows of one table that change in one way become one statement.
final class SaveBatch: RowChangeSink {
  private let tables: TableMap
  private let namespace: String
  private var run: RowRun?
  private(set) var changes: [RowRun] = []
  /// The first change that cannot be stored.
  private(set) var failure: (any Error)?
  /// The keys that rows get, by constraint.
  private(set) var keys: [KeyCheck]
  private(set) var references = ReferenceCheck()
  /// What becomes of derived attributes; `nil` if there are none.
  private(set) var derivations: SaveDerivations?

  /// How many bytes of values one statement carries, about.
  private static let runByteCount = 4 << 20

  init(_ tables: TableMap, namespace: String) {
    self.tables = tables
    self.namespace = namespace
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
      return run.statements(ordinal: ordinal, namespace: namespace)
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

  private func add(
    _ reference: RowReference,
    _ kind: RowRun.Kind,
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
  private func begin(_ kind: RowRun.Kind, _ table: MappedTable, _ columns: [MappedColumn]) {
    if let run, run.table === table, run.kind == kind, run.byteCount < SaveBatch.runByteCount,
      run.columns.count == columns.count,
      zip(run.columns, columns).allSatisfy({ $0.position == $1.position })
    {
      return
    }
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
struct RowRun {
  enum Kind: String { case insert, update, delete }

  let kind: Kind
  let table: MappedTable
  let columns: [MappedColumn]
  /// The columns whose values the rows have.
  private let given: [MappedColumn]
  /// The columns that get the time of the save.
  private let dated: [MappedColumn]
  private(set) var rows: [Int64] = []
  private var values: [ArrayParameter]

  /// - Parameters:
  ///   - kind: What is done to the rows.
  ///   - table: Their table.
  ///   - columns: The columns that are written.
  ///   - dates: The positions of columns that say when a row was written.
  init(_ kind: Kind, _ table: MappedTable, _ columns: [MappedColumn], dates: [Int]) {
    self.kind = kind
    self.table = table
    self.columns = columns
    given = columns.filter { !dates.contains($0.position) }
    dated = columns.filter { dates.contains($0.position) }
    values = given.map { ArrayParameter($0.kind.parameterType) }
  }

  var byteCount: Int { values.reduce(rows.count * 8) { $0 + $1.byteCount } }

  mutating func add(_ reference: RowReference) {
    rows.append(Int64(bitPattern: reference.rawValue))
  }

  mutating func add(_ reference: RowReference, _ row: RawSpan) throws {
    for place in given.indices {
      try table.append(given[place], of: row, reference, to: &values[place])
    }
    add(reference)
  }

  /// The statement that makes the changes, then the one that writes them down.
  func statements(ordinal: Int, namespace: String) -> [Statement] {
    let history = "\(namespace.quotedName)._logstore_change"
    // A delete writes down what is to be remembered of its rows, so both are one statement.
    if kind == .delete { return [deletion(ordinal, history)] }
    let changes =
      isSingle
      ? "VALUES (($1::bigint[])[1], $2, $3, $4)"
      : "SELECT r, $2 + o - 1, $3, $4 FROM unnest($1::bigint[]) WITH ORDINALITY AS u(r, o)"
    let note = Statement(
      "INSERT INTO \(history) (row, ordinal, kind, columns) \(changes)"
    ) {
      $0.append(rows)
      $0.append(ordinal)
      $0.append(kind.rawValue)
      if kind == .update { $0.append(columns.map(\.name)) } else { $0.appendNull(.textArray) }
    }
    if kind == .insert { return [insertion(), note] }
    // Nothing has to be written of a value that is on the server already.
    return columns.isEmpty ? [presence(), note] : [update(), note]
  }

  /// The arrays of keys and values, as a table in SQL.
  private var source: String {
    let arrays = given.enumerated().map { ", $\($0 + 2)::\($1.kind.parameterType.array.name)" }
    let names = given.indices.map { ", c\($0)" }
    return "unnest($1::bigint[]\(arrays.joined())) AS v(k\(names.joined()))"
  }

  /// Whether it is one row: the server plans a statement without a table of arrays in half the time.
  private var isSingle: Bool { rows.count == 1 }

  /// The first element of each array of values, in SQL.
  private var firstValues: [String] {
    given.enumerated().map {
      "($\($0 + 2)::\($1.kind.parameterType.array.name))[1]\($1.kind.cast)"
    }
  }

  private func fill(_ parameters: inout Parameters) {
    parameters.append(rows)
    for value in values { parameters.append(value) }
  }

  private func insertion() -> Statement {
    let names = (given + dated).map { ", \($0.name.quotedName)" }.joined()
    let target = "INSERT INTO \(table.name) (\(MappedTable.key)\(names))"
    if isSingle {
      let values = ["($1::bigint[])[1]"] + firstValues + dated.map { _ in "now()" }
      return Statement("\(target) VALUES (\(values.joined(separator: ", ")))", fill)
    }
    let selected =
      given.enumerated().map { ", c\($0)\($1.kind.cast)" }.joined()
      + dated.map { _ in ", now()" }.joined()
    return Statement("\(target) SELECT k\(selected) FROM \(source)", fill)
  }

  private func update() -> Statement {
    let dates = dated.map { "\($0.name.quotedName) = now()" }
    if isSingle {
      let assignments = zip(given, firstValues).map { "\($0.name.quotedName) = \($1)" } + dates
      return Statement(
        "UPDATE \(table.name) SET \(assignments.joined(separator: ", ")) "
          + "WHERE \(MappedTable.key) = ($1::bigint[])[1]",
        fill
      )
    }
    let assignments =
      given.enumerated().map { "\($1.name.quotedName) = v.c\($0)\($1.kind.cast)" } + dates
    return Statement(
      "UPDATE \(table.name) AS t SET \(assignments.joined(separator: ", ")) FROM \(source) "
        + "WHERE t.\(MappedTable.key) = v.k",
      fill
    )
  }

  private func presence() -> Statement {
    Statement(
      "SELECT 1 FROM \(table.name) WHERE \(MappedTable.key) = ANY ($1) FOR UPDATE"
    ) { $0.append(rows) }
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
        + "SELECT k, $2 + array_position($1, k) - 1, 'delete', p FROM gone"
    ) {
      $0.append(rows)
      $0.append(ordinal)
    }
  }
}
#endif

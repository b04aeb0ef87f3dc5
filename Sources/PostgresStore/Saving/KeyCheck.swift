#if PostgreSQL
import ModelRuntime
import RowFormat

/// The unique keys that one save gives to rows, and the query for rows that have them already.
///
/// The server has a constraint for each table, checked when the transaction ends, so that values can change hands within
/// a save. It would end the transaction without saying which rows are meant, and does not know of subclasses; so the keys
/// are locked first, and after all changes were made the rows that have them are looked for. A row that another program
/// writes with SQL in between violates the constraint, and the save begins anew.
struct KeyCheck {
  let constraint: UniquenessConstraint
  private let tables: [MappedTable]
  private let columns: [MappedColumn]
  private var rows: [RowReference] = []
  private var values: [ArrayParameter]
  /// Of each key, the row of this save that got it first.
  private var first: [[UInt8]: RowReference] = [:]
  /// The rows that get a key that a row of the same save has already.
  private(set) var clashes: [RowClash] = []

  init(_ constraint: UniquenessConstraint, _ tables: [MappedTable]) {
    self.constraint = constraint
    self.tables = tables
    let owner = MappedColumn.columns(of: constraint.owner)
    columns = constraint.columns.map { owner[$0] }
    values = columns.map { ArrayParameter($0.kind.parameterType) }
  }

  var isEmpty: Bool { rows.isEmpty }

  func covers(_ table: MappedTable) -> Bool { constraint.covers(table.descriptor) }

  mutating func add(_ reference: RowReference, _ row: RawSpan, _ table: MappedTable) throws {
    var key: [UInt8] = []
    guard ColumnKey.append(constraint.columns, of: row, table.layout, to: &key) else { return }
    if let holder = first[key] {
      clashes.append(RowClash(row: reference, holder: holder, constraint: constraint))
      return
    }
    first[key] = reference
    rows.append(reference)
    for place in columns.indices {
      try table.append(columns[place], of: row, reference, to: &values[place])
    }
  }

  /// The locks to take before any change, so that of two saves that give the same keys the second waits for the first,
  /// and they do not wait for each other.
  ///
  /// Each key has a lock, up to a number: many locks would fill the server's table of them. A greater save has the
  /// constraint for itself.
  func locks() -> [Statement] {
    let name = "\(tables[0].name) \(constraint.properties.joined(separator: " "))"
    func lock(_ function: String) -> Statement {
      Statement("SELECT \(function)(hashtextextended($1, 0))") { $0.append(name) }
    }
    guard rows.count <= KeyCheck.lockLimit else { return [lock("pg_advisory_xact_lock")] }
    let columns = self.columns.indices.map { "c\($0)" }.joined(separator: ", ")
    let keys = statement(
      "SELECT count(pg_advisory_xact_lock(h)) FROM (SELECT DISTINCT "
        + "hashtextextended(\((name + " ").quotedText) || ROW(\(columns))::text, 0) AS h "
        + "FROM \(source) ORDER BY 1) AS l"
    )
    return [lock("pg_advisory_xact_lock_shared"), keys]
  }

  private static let lockLimit = 256

  /// The arrays of rows and values, as a table in SQL.
  private var source: String {
    let arrays = columns.enumerated().map { ", $\($0 + 2)::\($1.kind.parameterType.array.name)" }
    let names = columns.indices.map { ", c\($0)" }
    return "unnest($1::bigint[]\(arrays.joined())) AS v(k\(names.joined()))"
  }

  private func statement(_ sql: String) -> Statement {
    Statement(sql) {
      $0.append(rows.map { Int64(bitPattern: $0.rawValue) })
      for value in values { $0.append(value) }
    }
  }

  /// The statements that find other rows with the keys, one for each table that can have them.
  func statements() -> [Statement] {
    tables.map { table in
      let equal = constraint.columns.enumerated().map { place, column in
        "t.\(table.columns[column].name.quotedName) = v.c\(place)\(columns[place].kind.cast)"
      }
      return statement(
        "SELECT v.k, t.\(MappedTable.key) FROM \(source) JOIN \(table.name) AS t "
          + "ON \(equal.joined(separator: " AND ")) AND t.\(MappedTable.key) <> v.k"
      )
    }
  }

  /// The clashes that the statements have found.
  func clashes(in results: ArraySlice<StatementResult>) -> [RowClash] {
    results.flatMap { result in
      (0..<result.rowCount).map { row in
        RowClash(
          row: RowReference(rawValue: UInt64(bitPattern: result.integer(row, 0))),
          holder: RowReference(rawValue: UInt64(bitPattern: result.integer(row, 1))),
          constraint: constraint
        )
      }
    }
  }
}
#endif

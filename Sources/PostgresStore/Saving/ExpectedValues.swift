#if PostgreSQL
import ModelRuntime
import RowFormat

/// The values that rows must have in some columns for a save to be made, as a merge policy, `add(_:to:)` and the rule that
/// clears references require.
///
/// The save locks the rows before it looks, so that they are what it replaces.
struct ExpectedValues {
  private struct Expectation {
    let columns: [Int]
    /// The row that has the values; `nil` expects a value that no row has.
    let base: [UInt8]?
  }

  private var rows: [RowReference: [Expectation]] = [:]
  /// The rows that references name which the save clears.
  private var targets: [RowReference: [(column: Int, target: RowReference)]] = [:]

  /// The rows of one table that are looked at.
  enum Question {
    /// All of each row.
    case rows(MappedTable)
    /// One column that refers to other rows.
    case references(MappedTable, column: Int)
  }

  var isEmpty: Bool { rows.isEmpty && targets.isEmpty }

  mutating func add(_ row: RowReference, _ columns: [Int], from base: [UInt8]?) {
    rows[row, default: []].append(Expectation(columns: columns, base: base))
  }

  /// Expects a reference to name a row, or none.
  mutating func add(_ row: RowReference, _ column: Int, to target: RowReference) {
    targets[row, default: []].append((column, target))
  }

  /// The statements that lock the rows and read them, in one order for all saves.
  func questions(_ tables: TableMap) -> [(question: Question, statement: Statement)] {
    let whole = Dictionary(grouping: rows.keys, by: \.table)
    let referring = Dictionary(grouping: targets.keys, by: \.table)
    let numbers = Set(whole.keys).union(referring.keys).sorted()
    return numbers.compactMap(tables.table(numbered:)).flatMap {
      questions(about: $0, whole[$0.number] ?? [], referring[$0.number] ?? [])
    }
  }

  private func questions(
    about table: MappedTable,
    _ whole: [RowReference],
    _ referring: [RowReference]
  ) -> [(question: Question, statement: Statement)] {
    var questions: [(question: Question, statement: Statement)] = []
    if !whole.isEmpty {
      questions.append((.rows(table), lock(whole, in: table, table.selection)))
    }
    var columns: [Int: [RowReference]] = [:]
    for row in referring {
      for (column, _) in targets[row] ?? [] { columns[column, default: []].append(row) }
    }
    for (column, rows) in columns.sorted(by: { $0.key < $1.key }) {
      let selection = "t.\(MappedTable.key), t.\(table.columns[column].name.quotedName)"
      questions.append((.references(table, column: column), lock(rows, in: table, selection)))
    }
    return questions
  }

  /// An update takes the same lock: rows that refer to these are not kept waiting.
  private func lock(
    _ rows: [RowReference],
    in table: MappedTable,
    _ selection: String
  ) -> Statement {
    Statement(
      "SELECT \(selection) FROM \(table.name) AS t WHERE t.\(MappedTable.key) = ANY ($1) "
        + "ORDER BY t.\(MappedTable.key) FOR NO KEY UPDATE"
    ) { $0.append(rows.map { Int64(bitPattern: $0.rawValue) }) }
    .repeated
  }

  /// Makes sure that rows have the expected values; a missing row is left to other checks.
  ///
  /// - Parameter answers: The questions, and what the server answered.
  /// - Throws: `RowConflicts` or `MovedReference`.
  func check(_ answers: some Sequence<(Question, StatementResult)>) throws {
    var conflicts: [RowConflict] = []
    for (question, result) in answers {
      switch question {
      case .rows(let table): conflicts += try self.conflicts(in: table, result)
      case .references(_, let column): try checkReferences(in: column, result)
      }
    }
    if !conflicts.isEmpty { throw RowConflicts(conflicts) }
  }

  private func checkReferences(in column: Int, _ result: StatementResult) throws {
    for number in 0..<result.rowCount where !result.isNull(number, 1) {
      let row = RowReference(rawValue: UInt64(bitPattern: result.integer(number, 0)))
      let stored = RowReference(rawValue: UInt64(bitPattern: result.integer(number, 1)))
      for (expected, target) in targets[row] ?? [] where expected == column && target != stored {
        throw MovedReference(row, column: column)
      }
    }
  }

  private func conflicts(in table: MappedTable, _ result: StatementResult) throws -> [RowConflict] {
    var conflicts: [RowConflict] = []
    var decoder = RowDecoder(table)
    for number in 0..<result.rowCount {
      try decoder.withRow(number, of: result) { reference, row in
        let columns = (rows[reference] ?? []).flatMap { expectation in
          expectation.columns.filter { column in
            guard let base = expectation.base else { return true }
            return !table.layout.isEqual(column, in: row, and: base.span.bytes)
          }
        }
        if columns.isEmpty { return }
        let stored = row.withUnsafeBytes { Array($0) }
        conflicts.append(RowConflict(row: reference, columns: columns, stored: stored))
      }
    }
    return conflicts
  }
}

// Conflicting rows are reported with their values; the context decides about them.
extension PostgresStore: ValueComparingStore {}
#endif

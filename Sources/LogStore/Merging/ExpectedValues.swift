import ModelRuntime
import RowFormat

/// The values that a save expects to replace, and the conflicts found.
///
/// The rows are compared when they are those that the commit replaces, so that nothing gets between: see
/// `CommitParticipant`.
struct ExpectedValues {
  private struct Expectation {
    let columns: [Int]
    /// The row that has the values; `nil` if no value is the expected one.
    let base: [UInt8]?
  }

  private var expectations: [RowReference: [Expectation]] = [:]
  /// The rows that have other values.
  private(set) var conflicts: [RowConflict] = []

  var isEmpty: Bool { expectations.isEmpty }

  mutating func removeAll() {
    if !expectations.isEmpty { expectations.removeAll() }
    forgetConflicts()
  }

  /// Forgets what was found: the commit is prepared anew.
  mutating func forgetConflicts() { if !conflicts.isEmpty { conflicts.removeAll() } }

  mutating func expect(_ row: RowReference, _ columns: [Int], from base: [UInt8]?) {
    expectations[row, default: []].append(Expectation(columns: columns, base: base))
  }

  /// Adds the columns of a table that are compared.
  func insertColumns(of table: UInt16, into columns: inout ColumnSet) {
    for (row, expectations) in expectations where row.table == table {
      for column in expectations.flatMap(\.columns) { columns.insert(column) }
    }
  }

  /// Compares a row with what it is expected to be.
  mutating func compare(_ row: RawSpan, _ reference: RowReference, _ layout: RowLayout) {
    guard let expectations = expectations[reference] else { return }
    var columns: [Int] = []
    for expectation in expectations {
      guard let base = expectation.base else {
        columns += expectation.columns
        continue
      }
      for column in expectation.columns
      where unsafe !layout.isEqual(column, in: row, and: base.span.bytes) {
        columns.append(column)
      }
    }
    if columns.isEmpty { return }
    let stored = unsafe row.withUnsafeBytes { unsafe Array($0) }
    conflicts.append(RowConflict(row: reference, columns: columns, stored: stored))
  }
}

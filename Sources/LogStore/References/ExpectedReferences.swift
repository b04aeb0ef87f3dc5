import RowFormat

/// The rows that references may name in the rows that a commit replaces.
struct ExpectedReferences {
  private struct Expectation {
    let column: Int
    let target: RowReference
  }

  /// The first expectation of each row: most rows have no other.
  private var first: [RowReference: Expectation] = [:]
  private var others: [RowReference: [Expectation]] = [:]

  var isEmpty: Bool { first.isEmpty }

  mutating func removeAll() {
    first.removeAll()
    others.removeAll()
  }

  /// Adds an expectation; a later one about the same reference takes its place.
  mutating func insert(_ row: RowReference, _ column: Int, _ target: RowReference) {
    let new = Expectation(column: column, target: target)
    guard let known = first.updateValue(new, forKey: row), known.column != column else { return }
    others[row, default: []].removeAll { $0.column == column || $0.column == known.column }
    others[row, default: []].append(known)
  }

  /// Calls a closure with what the references of a row may name.
  func forEach(
    of row: RowReference,
    _ body: (_ column: Int, _ target: RowReference) throws -> Void
  ) rethrows {
    guard let expectation = first[row] else { return }
    try body(expectation.column, expectation.target)
    for other in others[row] ?? [] { try body(other.column, other.target) }
  }

  /// Adds the columns of a table's references, and those of their places in lists: an update may be of nothing else.
  ///
  /// - Parameters:
  ///   - table: The table's number.
  ///   - ranks: The columns of the places, by those of the references.
  ///   - columns: Receives the columns.
  func insertColumns(of table: UInt16, ranks: [Int: Int], into columns: inout ColumnSet) {
    func insert(_ column: Int) {
      columns.insert(column)
      if let rank = ranks[column] { columns.insert(rank) }
    }
    for (row, expectation) in first where row.table == table { insert(expectation.column) }
    for (row, expectations) in others where row.table == table {
      for expectation in expectations { insert(expectation.column) }
    }
  }
}

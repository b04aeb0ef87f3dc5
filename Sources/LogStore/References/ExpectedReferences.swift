import ModelRuntime
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
  /// Those that came together.
  private var stretches: [Stretch] = []

  /// Expectations of references of one column, of ascending rows.
  private struct Stretch {
    let references: [DanglingReferences.Reference]
    /// The place of the reference that was looked for last: rows mostly come in order.
    var place = 0

    /// Finds the reference of a row.
    mutating func find(_ row: RowReference) -> DanglingReferences.Reference? {
      let next = place + 1
      if next < references.count, references[next].row == row {
        place = next
        return references[next]
      }
      if place < references.count, references[place].row == row { return references[place] }
      let found = references.partitionPoint { $0.row < row }
      guard found < references.count, references[found].row == row else { return nil }
      place = found
      return references[found]
    }
  }

  var isEmpty: Bool { first.isEmpty && stretches.isEmpty }

  mutating func removeAll() {
    first.removeAll()
    others.removeAll()
    stretches.removeAll()
  }

  /// Adds an expectation; a later one about the same reference takes its place.
  mutating func insert(_ row: RowReference, _ column: Int, _ target: RowReference) {
    let new = Expectation(column: column, target: target)
    guard let known = first.updateValue(new, forKey: row), known.column != column else { return }
    others[row, default: []].removeAll { $0.column == column || $0.column == known.column }
    others[row, default: []].append(known)
  }

  /// Adds expectations about references of one column, of ascending rows.
  mutating func insert(_ references: [DanglingReferences.Reference]) {
    if references.isEmpty { return }
    assert(
      zip(references, references.dropFirst()).allSatisfy {
        $0.row < $1.row && $0.row.table == $1.row.table && $0.column == $1.column
      },
      "references are expected out of order"
    )
    stretches.append(Stretch(references: references))
  }

  /// Calls a closure with what the references of a row may name.
  mutating func forEach(
    of row: RowReference,
    _ body: (_ column: Int, _ target: RowReference) throws -> Void
  ) rethrows {
    if let expectation = first[row] {
      try body(expectation.column, expectation.target)
      for other in others[row] ?? [] { try body(other.column, other.target) }
    }
    for place in stretches.indices {
      guard let reference = stretches[place].find(row) else { continue }
      try body(reference.column, reference.target)
    }
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
    for stretch in stretches where stretch.references[0].row.table == table {
      insert(stretch.references[0].column)
    }
  }
}

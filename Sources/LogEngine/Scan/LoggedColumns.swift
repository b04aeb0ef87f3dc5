import LogFormat
import RowFormat

/// Columns gathered from rows of the log, in vectors that a scan passes on.
final class LoggedColumns {
  private(set) var vectors: [ColumnVector]
  private let columnCount: Int
  // Written row by row, so no access may cost a run-time exclusivity check. There are no overlapping accesses: only the scan
  // that created the gatherer writes, and not while its output is being read.
  @exclusivity(unchecked) private var rows: GatheredRows

  init(_ columns: [UInt16], of definition: TableDefinition) {
    columnCount = columns.count
    vectors = columns.map { _ in ColumnVector() }
    unsafe rows = GatheredRows(columns, of: definition)
  }

  deinit { unsafe rows.deallocate() }

  /// The number of rows.
  var count: Int { unsafe rows.count }
  var isFull: Bool { unsafe rows.isFull }
  var isEmpty: Bool { unsafe rows.count == 0 }

  func key(of row: Int) -> UInt64 { unsafe rows.key(of: row) }

  /// Whether some of the rows lack a column.
  func isLacking(_ index: Int) -> Bool { unsafe rows.isLacking(index) }

  /// Keeps the rows that lack a column.
  func keepLacking(_ index: Int, in selection: inout RowSelection) {
    unsafe rows.keepLacking(index, in: &selection)
  }

  /// Adds a row to a batch that is not full.
  ///
  /// - Returns: `false` if the table has no such layout.
  @inline(__always)
  func append(_ key: UInt64, _ number: LayoutNumber, _ row: RawSpan) -> Bool {
    unsafe rows.append(key, number, row)
  }

  /// Moves the gathered rows into the vectors; reuses a vector's memory unless the vector was retained.
  func finish() {
    for index in 0..<columnCount {
      if !isKnownUniquelyReferenced(&vectors[index]) { vectors[index] = ColumnVector() }
      unsafe rows.fill(&vectors[index].contents, from: index)
    }
  }

  /// Begins the next batch.
  func removeAll() { unsafe rows.removeAll() }
}

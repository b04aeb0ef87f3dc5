import LogFormat
import RowFormat

/// Columns gathered from rows of the log, in vectors that a scan hands over.
final class LoggedColumns {
  private(set) var vectors: [ColumnVector]
  private let columnCount: Int
  // Written to row by row, so no access may cost a check at run time against overlapping ones. There are none:
  // only the scan that made the gatherer writes, and not while its output is being read.
  @exclusivity(unchecked) private var rows: GatheredRows

  init(_ columns: [UInt16], of definition: TableDefinition) {
    columnCount = columns.count
    vectors = columns.map { _ in ColumnVector() }
    unsafe rows = GatheredRows(columns, of: definition)
  }

  deinit { unsafe rows.deallocate() }

  /// How many rows there are.
  var count: Int { unsafe rows.count }
  var isFull: Bool { unsafe rows.isFull }
  var isEmpty: Bool { unsafe rows.count == 0 }

  func key(of row: Int) -> UInt64 { unsafe rows.key(of: row) }

  /// Whether some of the rows do not have a column.
  func isLacking(_ index: Int) -> Bool { unsafe rows.isLacking(index) }

  /// Keeps the rows that do not have a column.
  func keepLacking(_ index: Int, in selection: inout RowSelection) {
    unsafe rows.keepLacking(index, in: &selection)
  }

  /// Adds a row, of a batch that is not full.
  ///
  /// - Returns: `false` if the table has no such layout.
  @inline(__always)
  func append(_ key: UInt64, _ number: LayoutNumber, _ row: RawSpan) -> Bool {
    unsafe rows.append(key, number, row)
  }

  /// Puts what was gathered into the vectors, in the same memory unless one was kept.
  func finish() {
    for index in 0..<columnCount {
      if !isKnownUniquelyReferenced(&vectors[index]) { vectors[index] = ColumnVector() }
      unsafe rows.fill(&vectors[index].contents, from: index)
    }
  }

  /// Begins the next batch.
  func removeAll() { unsafe rows.removeAll() }
}

import Locking
import LogFormat
import RowFormat

// Rewriting a row of which only some columns were changed.
extension CommitBatch {
  /// Applies the columns that a commit changes to the newest row.
  ///
  /// The caller's values of the other columns may be outdated: another commit may have changed them since the caller read the
  /// row. A delta leaves them out; a whole row would undo what that commit wrote.
  ///
  /// - Parameters:
  ///   - changed: The columns, by position in the layout.
  ///   - row: The row with these changes, in the layout.
  ///   - number: The layout.
  ///   - place: The place of the row's newest record.
  ///   - reference: The row's name.
  ///   - writer: Emptied, then filled with the row.
  /// - Throws: ``StorageError`` if the newest row cannot be read.
  func merge(
    _ changed: ColumnSet,
    of row: RawSpan,
    _ number: LayoutNumber,
    withRowAt place: RecordPlace,
    _ reference: RowReference,
    into writer: inout RowWriter
  ) throws {
    guard let table = state.tables[Int(reference.table)],
      let layout = table.layouts[Int(number.rawValue)]
    else { throw StorageError.unknownLayout(table: reference.table, layout: number) }
    var newest = FoldScratch()
    let base = try state.fold(place, reference, into: &newest)
    guard let newestLayout = table.layouts[Int(base.rawValue)] else {
      throw StorageError.unknownLayout(table: reference.table, layout: base)
    }
    // Most rows have the layout already, and every column keeps its place.
    let places =
      number == base ? nil : places(of: number, in: base, of: reference.table, layout.count)
    writer.removeAll()
    writer.begin(layout)
    for column in 0..<layout.count {
      if !changed.contains(column), let place = places.map({ $0[column] }) ?? column {
        writer.copy(column, from: newest.row, column: place, layout: newestLayout)
      } else {
        writer.copy(column, from: row, column: column, layout: layout)
      }
    }
    _ = writer.finish()
  }

  /// For each column of a layout, its place in another; `nil` if it has none there.
  private func places(
    of number: LayoutNumber,
    in other: LayoutNumber,
    of table: UInt16,
    _ count: Int
  ) -> [Int?] {
    let definition = state.visibility.catalogue.withLock { $0.table(table) }
    guard let columns = definition?.layout(number)?.columns,
      let others = definition?.layout(other)?.columns, columns.count == count
    else { return Array(repeating: nil, count: count) }
    return columns.map { others.firstIndex(of: $0) }
  }
}

extension ColumnSet {
  /// Whether no column of a layout is missing.
  func isAll(of layout: RowLayout) -> Bool { (0..<layout.count).allSatisfy(contains) }
}

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
  ///   - chain: The newest row, in a layout of its own; then the result.
  ///   - table: The table of both layouts.
  /// - Throws: ``StorageError`` if the table does not have one of them.
  func merge(
    _ changed: ColumnSet,
    of row: RawSpan,
    _ number: LayoutNumber,
    into chain: inout RowChain,
    of table: Table
  ) throws {
    let base = chain.layout
    guard let layout = table.layouts[Int(number.rawValue)] else {
      throw StorageError.unknownLayout(table: table.number, layout: number)
    }
    guard let newestLayout = table.layouts[Int(base.rawValue)] else {
      throw StorageError.unknownLayout(table: table.number, layout: base)
    }
    // Most rows have the layout already, and every column keeps its place.
    let places = number == base ? nil : places(of: number, in: base, of: table.number, layout.count)
    chain.replace { newest, writer in
      writer.begin(layout)
      for column in 0..<layout.count {
        if !changed.contains(column), let place = places.map({ $0[column] }) ?? column {
          writer.copy(column, from: newest, column: place, layout: newestLayout)
        } else {
          writer.copy(column, from: row, column: column, layout: layout)
        }
      }
      _ = writer.finish()
    }
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

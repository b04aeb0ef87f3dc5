import LogFormat

/// A batch of rows of a scan, by columns: rows of one block of a pack, or rows gathered from the log.
///
/// Valid only during the call that receives it.
public struct ColumnBatch: ~Copyable {
  /// The selected rows.
  ///
  /// In a block of a pack some rows may have changed or ended since; these are not selected, and their values in the columns
  /// are meaningless.
  public let rows: RowSelection
  private let source: Source

  private enum Source {
    case pack(PackedColumns)
    case log(LoggedColumns)
  }

  init(_ rows: RowSelection, of block: PackedColumns) {
    self.rows = rows
    source = .pack(block)
  }

  init(_ rows: RowSelection, of rowsInLog: LoggedColumns) {
    self.rows = rows
    source = .log(rowsInLog)
  }

  /// Returns the values of a column, one for each row, whether selected or not.
  ///
  /// - Parameter index: The column's position among those that the scan requested.
  /// - Returns: The values; all null if the rows do not have the column.
  /// - Throws: ``/LogFormat/StorageError/corruption(_:)`` if the column is damaged.
  /// - Complexity: O(rows) at the first call.
  public func column(_ index: Int) throws -> ColumnVector {
    switch source {
    case .pack(let columns): try columns.block.column(index)
    case .log(let columns): columns.vectors[index]
    }
  }

  /// Whether some of the rows were written without a column, because the table did not have it then.
  ///
  /// - Parameter index: The column's position among those that the scan requested.
  /// - Returns: Whether any row lacks the column.
  public func isLacking(_ index: Int) -> Bool {
    switch source {
    case .pack(let columns): !columns.block.hasColumn(index)
    case .log(let columns): columns.isLacking(index)
    }
  }

  /// Keeps the rows that lack a column: in ``column(_:)`` they are null, like rows that have the column without a value.
  public func keepLacking(_ index: Int, in rows: inout RowSelection) {
    switch source {
    case .pack(let columns): if columns.block.hasColumn(index) { rows.removeAll() }
    case .log(let columns): columns.keepLacking(index, in: &rows)
    }
  }

  /// Whether any row may meet a condition, judging without reading columns; always `true` for rows in the log.
  public func mayHold(_ condition: ZoneCondition) -> Bool {
    switch source {
    case .pack(let columns): columns.reader.mayHold(condition, inBlock: columns.block.number)
    case .log: true
    }
  }

  /// Returns the key of a row.
  ///
  /// - Throws: ``/LogFormat/StorageError/corruption(_:)`` if the block's keys are damaged.
  public func key(of row: Int) throws -> UInt64 {
    switch source {
    case .pack(let columns): try columns.block.key(of: row)
    case .log(let columns): columns.key(of: row)
    }
  }
}

/// The columns of a pack, a block at a time.
final class PackedColumns {
  let reader: PackReader
  var block: PackBlock
  private let columns: [UInt16]
  /// The positions of the columns in each of the pack's schemas.
  private var positions: [[Int?]?]

  init(_ reader: PackReader, _ columns: [UInt16]) {
    self.reader = reader
    self.columns = columns
    block = PackBlock(reader, columnCount: columns.count)
    positions = Array(repeating: nil, count: reader.footer.schemas.count)
  }

  func move(to number: Int) {
    let schema = reader.footer.blocks[number].schema
    let known = positions[schema] ?? reader.positions(of: columns, inSchema: schema)
    positions[schema] = known
    block.move(to: number, known)
  }
}

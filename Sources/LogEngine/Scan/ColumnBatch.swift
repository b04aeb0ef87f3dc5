import LogFormat

/// Some rows of a scan by columns: those of a block of a pack, or rows gathered from the log.
///
/// To be used in the call it is handed to, and not after it.
public struct ColumnBatch: ~Copyable {
  /// The rows there are.
  ///
  /// Of a block of a pack some may have changed or ended since; these are not selected, and what the columns
  /// have in their places means nothing.
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

  /// The values of a column, one for each row, be it selected or not.
  ///
  /// - Parameter index: The column's position among those the scan asked for.
  /// - Returns: The values; all null if the rows do not have the column.
  /// - Throws: ``/LogFormat/StorageError/corruption(_:)`` if the column is damaged.
  /// - Complexity: O(rows) at the first call.
  public func column(_ index: Int) throws -> ColumnVector {
    switch source {
    case .pack(let columns): try columns.block.column(index)
    case .log(let columns): columns.vectors[index]
    }
  }

  /// Whether some of the rows were written before the table had a column, or after it had it.
  ///
  /// - Parameter index: The column's position among those the scan asked for.
  /// - Returns: Whether some row does not have it.
  public func isLacking(_ index: Int) -> Bool {
    switch source {
    case .pack(let columns): !columns.block.hasColumn(index)
    case .log(let columns): columns.isLacking(index)
    }
  }

  /// Keeps rows that do not have a column: in ``column(_:)`` they are null, as those are that have it, and no
  /// value in it.
  public func keepLacking(_ index: Int, in rows: inout RowSelection) {
    switch source {
    case .pack(let columns): if columns.block.hasColumn(index) { rows.removeAll() }
    case .log(let columns): columns.keepLacking(index, in: &rows)
    }
  }

  /// Whether some row may meet a condition, by what is known without reading columns; always, of rows in the
  /// log.
  public func mayHold(_ condition: ZoneCondition) -> Bool {
    switch source {
    case .pack(let columns): columns.reader.mayHold(condition, inBlock: columns.block.number)
    case .log: true
    }
  }

  /// The key of a row.
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
  /// Where the columns are in each of the pack's schemas.
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

import LogEngine
import RowFormat

extension ColumnPlan {
  /// Visits the rows that pass, in no particular order.
  ///
  /// - Parameters:
  ///   - table: The table the plan is for.
  ///   - more: Further columns to offer, by their numbers in the catalogue, behind the plan's own.
  ///   - keys: The keys to visit; all, if `nil`.
  ///   - view: The state to look at.
  ///   - tally: Counts what is read.
  ///   - body: Called with some rows at a time, and which of them pass.
  /// - Throws: ``StorageError`` for what is damaged, or what `body` throws.
  func scan(
    _ table: EntityTable,
    with more: [UInt16] = [],
    in keys: Range<UInt64>? = nil,
    of view: ReadView,
    _ tally: ScanTally?,
    _ body: (borrowing ColumnBatch, RowSelection) throws -> Void
  ) throws {
    if test.isNone { return }
    try view.scanColumns(
      table.number,
      columns + more,
      where: zones,
      in: keys,
      tally: tally
    ) { batch in
      var rows = batch.rows
      try test.narrow(&rows, of: batch)
      try body(batch, rows)
      return .proceed
    }
  }

  /// Counts the rows that pass.
  func count(
    of table: EntityTable,
    in keys: Range<UInt64>? = nil,
    of view: ReadView,
    _ tally: ScanTally?
  ) throws -> Int {
    var count = 0
    try scan(table, in: keys, of: view, tally) { _, rows in count += rows.selectedCount }
    return count
  }

  /// Appends the keys of the rows that pass, ascending.
  ///
  /// - Returns: The number of rows examined.
  func appendKeys(
    of table: EntityTable,
    in range: Range<UInt64>,
    of view: ReadView,
    _ tally: ScanTally?,
    to keys: inout [UInt64]
  ) throws -> Int {
    var rowCount = 0
    var isSorted = true
    try scan(table, in: range, of: view, tally) { batch, rows in
      rowCount += batch.rows.selectedCount
      try rows.forEach { row in
        let key = try batch.key(of: row)
        if let last = keys.last, last > key { isSorted = false }
        keys.append(key)
      }
    }
    if !isSorted { keys.sort() }
    return rowCount
  }
}

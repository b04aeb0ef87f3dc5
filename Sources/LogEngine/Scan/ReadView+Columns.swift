import LogFormat

extension ReadView {
  /// Visits the rows of a table by columns, for tests and sums over a few columns of many rows.
  ///
  ///     let view = engine.makeReadView()
  ///     try view.scanColumns(trips, [distance, fare], where: [.double(column: fare, 100...1e9)]) { batch in
  ///       var rows = batch.rows
  ///       try batch.column(1).keep(doubles: 100...1e9, in: &rows)
  ///       let distances = try batch.column(0)
  ///       let values = distances.doubles
  ///       rows.forEach { sum += values[$0] }
  ///       return .proceed
  ///     }
  ///
  /// For rows in packs only the requested columns are read, and blocks that cannot contain a row of interest are skipped; rows
  /// in the log are gathered into columns. Each row is visited once, in no particular order.
  ///
  /// - Parameters:
  ///   - table: The table; a missing table has no rows.
  ///   - columns: The columns to read, by their numbers in the catalogue.
  ///   - conditions: Conditions that all rows of interest meet. Other rows may be visited, too: a condition only saves reading,
  ///     it is not a test.
  ///   - keys: The keys to visit; all, if `nil`.
  ///   - tally: Counts the data read.
  ///   - body: Called with some rows at a time.
  /// - Throws: ``/LogFormat/StorageError`` if the data read are damaged, or any error that `body` throws.
  /// - Complexity: O(keys): eight bytes of the index are examined for each, and the columns.
  public func scanColumns(
    _ table: UInt16,
    _ columns: [UInt16],
    where conditions: [ZoneCondition] = [],
    in keys: Range<UInt64>? = nil,
    tally: ScanTally? = nil,
    _ body: (borrowing ColumnBatch) throws -> ScanControl
  ) throws {
    var scan = ColumnScan(self, table, columns, where: conditions)
    scan?.tally = tally
    try state.watchingReads { try scan?.run(in: keys, body) }
  }
}

extension StorageEngine {
  /// Visits the newest rows of a table by columns; see ``ReadView/scanColumns(_:_:where:in:tally:_:)``.
  public func scanColumns(
    _ table: UInt16,
    _ columns: [UInt16],
    where conditions: [ZoneCondition] = [],
    in keys: Range<UInt64>? = nil,
    _ body: (borrowing ColumnBatch) throws -> ScanControl
  ) throws {
    try makeReadView().scanColumns(table, columns, where: conditions, in: keys, body)
  }
}

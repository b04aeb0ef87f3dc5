import ModelRuntime

/// The columns that some sources are read from, in a scan that also tests rows by columns.
struct MeasuredColumns {
  /// One for each source.
  let sources: [MeasuredColumn]
  /// The positions of the sources' columns among those that are scanned: the tested ones, and ``more`` behind them.
  let positions: [Int]
  /// The columns that the test does not read, by their numbers in the catalogue.
  let more: [UInt16]

  /// - Returns: `nil` if the columns alone do not tell a source's value.
  init?(
    _ sources: [AggregateRequest.Source],
    of table: EntityTable,
    beside plan: ColumnPlan,
    _ resolver: StoreResolver
  ) {
    var columns: [MeasuredColumn] = []
    var positions: [Int] = []
    var scanned = plan.columns
    for source in sources {
      guard let column = MeasuredColumn(source, of: table, resolver) else { return nil }
      columns.append(column)
      let known = scanned.firstIndex(of: column.number)
      positions.append(known ?? scanned.count)
      if known == nil { scanned.append(column.number) }
    }
    self.sources = columns
    self.positions = positions
    more = Array(scanned.dropFirst(plan.columns.count))
  }

  /// Throws if a row that a reference leads to could not be read.
  func checkRelatedValues() throws {
    for source in sources { if let failure = source.related?.failure { throw failure } }
  }
}

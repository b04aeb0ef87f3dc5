import LogEngine
import ModelRuntime
import RowFormat

/// Reads the values of some sources from the columns of a table, without reading its rows.
struct ValueScan {
  private let table: EntityTable
  private let plan: ColumnPlan
  private let sources: [MeasuredColumn]
  /// The positions of the sources' columns among the columns that are scanned.
  private let positions: [Int]
  private let more: [UInt16]

  /// - Returns: `nil` if the columns do not tell which rows match, or what is read of them.
  init?(
    _ sources: [AggregateRequest.Source],
    _ table: EntityTable,
    where expression: QueryExpression?,
    _ resolver: StoreResolver
  ) {
    plan = ColumnPlan(expression, of: table, resolver)
    guard plan.isExact else { return nil }
    var measured: [MeasuredColumn] = []
    var positions: [Int] = []
    var more: [UInt16] = []
    for source in sources {
      guard let column = MeasuredColumn(source, of: table, resolver) else { return nil }
      measured.append(column)
      let columns = plan.columns + more
      positions.append(columns.firstIndex(of: column.number) ?? columns.count)
      if positions.last == columns.count { more.append(column.number) }
    }
    self.table = table
    self.sources = measured
    self.positions = positions
    self.more = more
  }

  /// Appends the values of the rows that match to columns, one for each source.
  ///
  /// - Returns: The keys of the rows, in the order in which they were found.
  /// - Throws: ``StorageError`` for what is damaged, or what a column throws.
  func run(
    into columns: [ValueColumn],
    _ view: ReadView,
    _ tally: TableTally?
  ) throws -> [UInt64] {
    tally?.choose(.columns(tally?.names(of: plan.columns + more) ?? []))
    var keys: [UInt64] = []
    try plan.scan(table, with: more, of: view, tally?.columns) { batch, rows in
      if rows.isEmpty { return }
      tally?.match(rows.selectedCount)
      try rows.forEach { keys.append(try batch.key(of: $0)) }
      for (source, place) in zip(sources, columns.indices) {
        let values = try PresentValues(rows, of: batch, at: positions[place])
        let column = columns[place]
        try rows.forEach { try column.append(values.value(at: $0, source)) }
      }
    }
    for source in sources { if let failure = source.related?.failure { throw failure } }
    return keys
  }
}

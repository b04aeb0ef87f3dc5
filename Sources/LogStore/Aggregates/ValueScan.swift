import LogEngine
import ModelRuntime
import RowFormat

/// Reads the values of some sources from the columns of a table, without reading its rows.
struct ValueScan {
  private let table: EntityTable
  private let plan: ColumnPlan
  private let columns: MeasuredColumns

  /// - Returns: `nil` if the columns do not tell which rows match, or what is read of them.
  init?(
    _ sources: [AggregateRequest.Source],
    _ table: EntityTable,
    where expression: QueryExpression?,
    _ resolver: StoreResolver
  ) {
    plan = ColumnPlan(expression, of: table, resolver)
    guard plan.isExact,
      let columns = MeasuredColumns(sources, of: table, beside: plan, resolver)
    else { return nil }
    self.table = table
    self.columns = columns
  }

  /// Appends the values of the rows that match to those of a result, one column for each source.
  ///
  /// - Returns: The keys of the rows, in the order in which they were found.
  /// - Throws: ``StorageError`` for what is damaged, or what a column throws.
  func run(
    into results: [ValueColumn],
    _ view: ReadView,
    _ tally: TableTally?
  ) throws -> [UInt64] {
    let (plan, columns) = (plan, columns)
    tally?.choose(.columns(tally?.names(of: plan.columns + columns.more) ?? []))
    var keys: [UInt64] = []
    try plan.scan(table, with: columns.more, of: view, tally?.columns) { batch, rows in
      if rows.isEmpty { return }
      tally?.match(rows.selectedCount)
      try rows.forEach { keys.append(try batch.key(of: $0)) }
      for (place, result) in results.enumerated() {
        let source = columns.sources[place]
        let values = try PresentValues(rows, of: batch, at: columns.positions[place])
        try rows.forEach { try result.append(values.value(at: $0, source)) }
      }
    }
    try columns.checkRelatedValues()
    return keys
  }
}

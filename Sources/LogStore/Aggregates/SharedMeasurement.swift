import LogEngine
import ModelRuntime
import RowFormat
import Synchronization

/// Measures the rows of one table by columns, with the help of a second thread where that pays.
///
/// 1. The calling thread measures the first sixteenth of the keys.
/// 2. If there are many rows in few groups, another thread measures the second half of the other keys meanwhile. What
///    two have measured is put together group by group: with a group for every few rows that takes longer than it saves.
/// 3. The calling thread measures the rest.
///
/// The rows alone decide which thread measures which keys, so the same rows have the same answer, to the last bit of
/// a sum of doubles.
struct SharedMeasurement {
  private let request: AggregateRequest
  private let table: EntityTable
  private let expression: QueryExpression?
  private let excluded: ExcludedRows.Keys
  private let allowance: AggregateAllowance
  private let store: TableStore
  private let resolver: StoreResolver
  private var view: ReadView { resolver.view }

  init(
    _ request: AggregateRequest,
    _ table: EntityTable,
    where expression: QueryExpression?,
    excluding excluded: ExcludedRows.Keys,
    within allowance: AggregateAllowance,
    in store: TableStore,
    _ resolver: StoreResolver
  ) {
    self.request = request
    self.table = table
    self.expression = expression
    self.excluded = excluded
    self.allowance = allowance
    self.store = store
    self.resolver = resolver
  }

  /// The fewest rows for each group that are worth another thread.
  private static let leastRowsPerGroup = 32

  /// Adds what it measures to a table of groups.
  ///
  /// - Returns: `false`, with nothing measured, if the columns do not tell which rows match, or what is measured.
  func run(into result: GroupTable, _ tally: TableTally?) throws -> Bool {
    guard var measurement = makeMeasurement(resolver) else { return false }
    let rowCount = view.rowCount(of: table.number)
    guard rowCount >= store.leastSharedRowCount.load(ordering: .relaxed) else {
      try measurement.run(view, excluding: excluded, tally)
      measurement.add(to: result)
      return true
    }
    let end = store.engine.nextKey(in: table.number)
    let sample = end / 16
    try measurement.run(view, in: 0..<sample, excluding: excluded, tally)
    let isWorthIt = measurement.groupCount * Self.leastRowsPerGroup <= rowCount / 16
    guard isWorthIt else {
      try measurement.run(view, in: sample ..< .max, excluding: excluded, tally)
      measurement.add(to: result)
      return true
    }
    measurement.allowance = allowance.half
    let middle = sample + (end - sample) / 2
    let half = SharedWork { [self, tally = tally?.makeAnother()] in
      // One thread at a time may use the memory of a resolver, or of a test of texts.
      var half = makeMeasurement(StoreResolver(store, as: view))
      half?.allowance = allowance.half
      try half?.run(view, in: middle ..< .max, excluding: excluded, tally)
      return (half, tally)
    }
    let first = Result {
      try measurement.run(view, in: sample..<middle, excluding: excluded, tally)
    }
    // Waited for in any case: no work continues after the question was answered.
    let second = half.result()
    try first.get()
    let (rest, counted) = try second.get()
    measurement.add(to: result)
    rest?.add(to: result)
    if let counted { tally?.add(counted) }
    return true
  }

  private func makeMeasurement(_ resolver: StoreResolver) -> ColumnMeasurement? {
    let plan = ColumnPlan(expression, of: table, resolver)
    return ColumnMeasurement(request, table, plan, resolver, within: allowance)
  }
}

import LogEngine
import ModelRuntime
import RowFormat
import Synchronization

/// Finds the names of all rows of a table that match, by columns, with the help of a second thread.
///
/// The calling thread takes the first half of the keys, the other one the second. Names come in the order of their keys.
struct SharedNames {
  private let fetch: TableFetch
  private let plan: ColumnPlan
  private let expression: QueryExpression?

  /// - Returns: `nil` if columns do not tell which rows match, or if a table is too small for two threads.
  init?(_ fetch: TableFetch, _ expression: QueryExpression?) {
    let least = fetch.store.leastSharedRowCount.load(ordering: .relaxed)
    guard let plan = fetch.exactColumns, fetch.view.rowCount(of: fetch.table.number) >= least
    else { return nil }
    self.fetch = fetch
    self.plan = plan
    self.expression = expression
  }

  func append(to references: inout [RowReference]) throws {
    let (store, table, view) = (fetch.store, fetch.table, fetch.view)
    let end = store.engine.nextKey(in: table.number)
    let middle = end / 2
    let half = SharedWork { [expression, tally = fetch.tally?.makeAnother()] in
      // One thread at a time may use the memory of a resolver, or of a test of texts.
      let plan = ColumnPlan(expression, of: table, StoreResolver(store, as: view))
      return (try Self.keys(plan, KeyRanges(from: middle, end: end), table, view, tally), tally)
    }
    let first = Result {
      try Self.keys(plan, KeyRanges(from: 0, end: middle), table, view, fetch.tally, upTo: middle)
    }
    // Waited for in any case: no work continues after the question was answered.
    let second = half.result()
    let firstKeys = try first.get()
    let (keys, counted) = try second.get()
    if let counted { fetch.tally?.add(counted) }
    references.reserveCapacity(references.count + firstKeys.count + keys.count)
    for key in firstKeys { references.append(RowReference(table: table.number, key: key)) }
    for key in keys { references.append(RowReference(table: table.number, key: key)) }
  }

  private static func keys(
    _ plan: ColumnPlan,
    _ ranges: KeyRanges,
    _ table: EntityTable,
    _ view: ReadView,
    _ tally: TableTally?,
    upTo end: UInt64 = .max
  ) throws -> [UInt64] {
    var ranges = ranges
    var keys: [UInt64] = []
    var matches: [UInt64] = []
    while let range = ranges.next() {
      matches.removeAll(keepingCapacity: true)
      let own = range.clamped(to: 0..<end)
      _ = try plan.appendKeys(of: table, in: own, of: view, tally?.columns, to: &matches)
      tally?.match(matches.count)
      keys += matches
    }
    return keys
  }
}

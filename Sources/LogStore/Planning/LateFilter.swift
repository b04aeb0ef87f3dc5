import LogEngine
import ModelRuntime
import RowFormat

/// The test of a predicate, which is made when the first row is tested: an index may tell all.
///
/// One for a fetch, since it remembers what it found out about other rows.
final class LateFilter {
  private let expression: QueryExpression
  private let table: EntityTable
  private let resolver: StoreResolver
  private(set) lazy var filter = RowFilter(
    expression,
    descriptor: table.descriptor,
    resolver: resolver
  )
  /// The numbers of the columns that the test looks at; `nil` for all.
  private(set) lazy var columns = expression.testedColumns.flatMap(table.numbers(of:))

  /// The numbers of the columns that the test looks at, and of some others; `nil` for all.
  func columns(besides others: ColumnSet) -> [UInt16]? {
    guard var columns = expression.testedColumns else { return nil }
    columns.formUnion(others)
    return table.numbers(of: columns)
  }

  init(_ expression: QueryExpression, _ table: EntityTable, _ resolver: StoreResolver) {
    self.expression = expression
    self.table = table
    self.resolver = resolver
  }

  /// The keys of the rows that match, of some whose keys ascend.
  ///
  /// Of packed rows, no more is read than the test looks at.
  func matches(
    among keys: [UInt64],
    in view: ReadView,
    _ tally: TableTally?
  ) throws -> [UInt64] {
    var matches: [UInt64] = []
    let (table, filter) = (table, filter)
    try view.scan(table.number, keys: keys, columns: columns) { key, layout, row in
      tally?.readRow(row.byteCount)
      let isMatching = try table.withCurrentRow(row, layout: layout, key: key) {
        try filter.matches($0, RowReference(table: table.number, key: key))
      }
      if isMatching { matches.append(key) }
      return .proceed
    }
    return matches
  }
}

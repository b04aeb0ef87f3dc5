import Foundation
import ModelRuntime
import RowFormat

// The least and the greatest value of a column are at the ends of an index: the first row in its order has it, and no other one is
// read.

extension TableStore {
  /// Measures the rows a fetch asks for by the ends of indexes.
  ///
  /// - Parameters:
  ///   - model: The class.
  ///   - query: The fetch.
  ///   - wanted: The measures.
  ///   - excluded: Rows that do not count.
  ///   - resolver: Answers about other rows, as of the view.
  ///   - result: Receives the values.
  /// - Returns: `false`, with nothing measured, if something else is measured, or no index tells.
  /// - Throws: What reading throws.
  func addExtremes<T: PersistentModel>(
    _ model: T.Type,
    _ query: StoreQuery,
    _ wanted: AggregateRequest,
    excluding excluded: ExcludedRows,
    _ resolver: StoreResolver,
    to result: GroupTable
  ) throws -> Bool {
    let tables = tables(for: T.self)
    guard tables.count == 1, wanted.keys.isEmpty, !wanted.measures.isEmpty,
      let orders = wanted.orders, let table = tables.first,
      query.expression?.canMatch(rowsOf: table.descriptor) != false
    else { return false }
    let indexes = TableIndexes(
      self,
      table,
      CandidatePlan(query.expression, textHash),
      isFiltered: query.expression != nil,
      resolver.view
    )
    guard let indexes, orders.allSatisfy(indexes.haveFirst) else { return false }
    var query = query
    query.excluded = excluded
    let reader = SourceReader(wanted.sources, of: table.descriptor, resolver)
    var found: [(measure: Int, value: QueryValue)] = []
    for (measure, order) in orders.enumerated() {
      var rows: [[QueryValue]] = []
      let places = try visit(T.self, query.first(by: order), by: order, resolver) {
        rows.append(try reader.values(of: $1, $0))
      }
      guard let source = wanted.measures[measure].value,
        let first = places.map({ $0.first.map { rows[$0] } }) ?? rows.first
      else { continue }
      // Behind nil, or what is no number, there may be other values.
      guard first[source].isOrdered else { return false }
      found.append((measure, first[source]))
    }
    for (measure, value) in found { result.accumulators[measure].add(value, to: 0) }
    return true
  }
}

extension AggregateRequest {
  /// The orders in which the first row has the value of each measure; `nil` if one asks for more than the least or the greatest.
  fileprivate var orders: [RowOrdering]? {
    var orders: [RowOrdering] = []
    for measure in measures {
      guard let source = measure.value, let column = sources[source].column,
        column.path.isTestedRow, column.reading.enumeration == nil
      else { return nil }
      switch measure.function {
      case .minimum: orders.append(RowOrdering(by: column, .forward))
      case .maximum: orders.append(RowOrdering(by: column, .reverse))
      default: return nil
      }
    }
    return orders
  }
}

extension QueryValue {
  /// Whether it has a place among other values.
  fileprivate var isOrdered: Bool {
    switch self {
    case .null: false
    case .double(let value): !value.isNaN
    default: true
    }
  }
}

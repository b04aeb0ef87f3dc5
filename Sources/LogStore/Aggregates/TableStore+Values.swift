import LogEngine
import ModelRuntime
import RowFormat

extension TableStore {
  /// Reads the values of some sources of the rows a fetch asks for, without making rows of columns where these suffice.
  ///
  /// - Throws: ``DataStoreError/preferInMemoryFilter`` or ``DataStoreError/preferInMemorySort`` for what needs
  ///   objects; or what a column throws.
  func readValues<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    _ sources: [AggregateRequest.Source],
    into columns: [ValueColumn],
    _ trace: QueryTrace?
  ) throws -> ValueOrder {
    let query = try StoreQuery(descriptor)
    let resolver = StoreResolver(self, trace)
    if let ordering = query.ordering {
      return try readValues(T.self, query, by: ordering, sources, into: columns, resolver)
    }
    var count = 0
    var skipped = query.window.offset
    var order = KeyOrder()
    try visit(T.self, query, for: .rows, resolver) { fetch in
      if query.window.isUnbounded, !fetch.namesRows,
        let scan = ValueScan(sources, fetch.table, where: query.expression, resolver)
      {
        let found = try scan.run(into: columns, resolver.view, fetch.tally)
        order.append(found, after: count)
        count += found.count
        return .proceed
      }
      let before = count
      let reader = SourceReader(sources, of: fetch.table.descriptor, resolver)
      let control = try fetch.visit(
        skipping: &skipped,
        reading: sources.columns
      ) { reference, row in
        try reader.read(row, reference, into: columns)
        count += 1
        return count < query.window.limit ? .proceed : .stop
      }
      order.append(count - before, after: before)
      return control
    }
    return order.places.map(ValueOrder.init(places:)) ?? ValueOrder(count: count)
  }

  /// Reads the values of rows in the order of a sort: of those that were read, those that are among the first.
  private func readValues<T: PersistentModel>(
    _: T.Type,
    _ query: StoreQuery,
    by ordering: RowOrdering,
    _ sources: [AggregateRequest.Source],
    into columns: [ValueColumn],
    _ resolver: StoreResolver
  ) throws -> ValueOrder {
    var reader: (table: UInt16, values: SourceReader)?
    var count = 0
    let places = try visit(T.self, query, by: ordering, resolver) { reference, row in
      if reader?.table != reference.table {
        guard let table = table(numbered: reference.table) else { return }
        reader = (reference.table, SourceReader(sources, of: table.descriptor, resolver))
      }
      try reader?.values.read(row, reference, into: columns)
      count += 1
    }
    return places.map(ValueOrder.init(places:)) ?? ValueOrder(count: count)
  }
}

/// The order of rows that were found in another one: table by table, and in each by their keys.
private struct KeyOrder {
  /// The places of the rows; `nil` as long as they were found in order.
  private(set) var places: [Int]?

  /// Appends the rows of a table in order.
  mutating func append(_ rowCount: Int, after count: Int) {
    places?.append(contentsOf: count..<count + rowCount)
  }

  /// Appends the rows of a table.
  ///
  /// - Parameters:
  ///   - keys: Their keys, in the order in which they were found.
  ///   - count: The number of rows before them.
  mutating func append(_ keys: [UInt64], after count: Int) {
    let isSorted = zip(keys, keys.dropFirst()).allSatisfy(<)
    if isSorted { return append(keys.count, after: count) }
    var all = places ?? Array(0..<count)
    all += keys.indices.sorted { keys[$0] < keys[$1] }.map { $0 + count }
    places = all
  }
}

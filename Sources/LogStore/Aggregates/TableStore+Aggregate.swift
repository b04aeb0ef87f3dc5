import LogEngine
import ModelRuntime
import RowFormat

extension TableStore {
  /// Measures the rows a fetch asks for, all of them as of one commit.
  ///
  /// - Throws: ``DataStoreError/preferInMemoryFilter`` for a predicate that needs objects, or
  ///   `SwiftDataError.aggregateTooLarge`.
  func aggregate<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    _ wanted: AggregateRequest,
    excluding excluded: ExcludedRows,
    _ trace: QueryTrace?
  ) throws -> GroupTable {
    let query = try StoreQuery(counting: descriptor)
    let resolver = StoreResolver(self, trace)
    let allowance = AggregateAllowance(
      byteCount: aggregateByteLimit,
      entityName: ModelDescriptor.of(T.self).entityName
    )
    let result = GroupTable(wanted, within: allowance)
    try visit(T.self, query, for: .rows, resolver) { fetch in
      let table = fetch.table
      if !fetch.namesRows {
        let measurement = SharedMeasurement(
          wanted,
          table,
          where: query.expression,
          excluding: excluded.keys(of: table.number),
          within: allowance,
          in: self,
          resolver
        )
        if try measurement.run(into: result, fetch.tally) {
          try result.checkSize()
          return .proceed
        }
      }
      let reader = SourceReader(wanted.sources, of: table.descriptor, resolver)
      return try fetch.visit { reference, row in
        if !excluded.contains(reference) {
          try result.add(try reader.values(of: row, reference), of: reference)
        }
        return .proceed
      }
    }
    return result
  }

  /// Hands the values of some columns of the rows a fetch asks for to a closure, in order.
  ///
  /// - Throws: ``DataStoreError/preferInMemoryFilter`` or ``DataStoreError/preferInMemorySort`` for what needs
  ///   objects; or what `body` throws.
  func visitValues<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    _ sources: [AggregateRequest.Source],
    _ trace: QueryTrace?,
    _ body: ([QueryValue]) throws -> Void
  ) throws {
    let query = try StoreQuery(descriptor)
    let resolver = StoreResolver(self, trace)
    var reader: (table: UInt16, values: SourceReader)?
    func read(_ reference: RowReference, _ row: RawSpan) throws -> [QueryValue] {
      if let reader, reader.table == reference.table {
        return try reader.values.values(of: row, reference)
      }
      guard let table = table(numbered: reference.table) else { return [] }
      let made = SourceReader(sources, of: table.descriptor, resolver)
      reader = (reference.table, made)
      return try made.values(of: row, reference)
    }
    if let ordering = query.ordering {
      var rows: [[QueryValue]] = []
      let order = try visit(T.self, query, by: ordering, resolver) { rows.append(try read($0, $1)) }
      for row in order ?? Array(rows.indices) { try body(rows[row]) }
      return
    }
    var (skipped, taken) = (query.window.offset, 0)
    try visit(T.self, query, for: .rows, resolver) { fetch in
      try fetch.visit(skipping: &skipped) { reference, row in
        try body(read(reference, row))
        taken += 1
        return taken < query.window.limit ? .proceed : .stop
      }
    }
  }
}

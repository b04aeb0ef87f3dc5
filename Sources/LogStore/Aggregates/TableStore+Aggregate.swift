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
    if try addExtremes(T.self, query, wanted, excluding: excluded, resolver, to: result) {
      return result
    }
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
      return try fetch.visit(reading: wanted.sources.columns) { reference, row in
        if !excluded.contains(reference) {
          try result.add(try reader.values(of: row, reference), of: reference)
        }
        return .proceed
      }
    }
    return result
  }
}

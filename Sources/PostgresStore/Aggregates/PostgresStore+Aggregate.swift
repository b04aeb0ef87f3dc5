#if PostgreSQL
package import ModelRuntime

extension PostgresStore: AggregatingStore {
  /// Measures the rows a request asks for, as of one state of the database.
  ///
  /// If the server measures as Swift does, it sends a row for each group. Otherwise it sends the values that are measured,
  /// and no models are made of them.
  ///
  /// - Throws: `DataStoreError.preferInMemoryFilter` for what only rows or objects can tell, or ``PostgresStoreError``.
  package func aggregate<T: PersistentModel>(
    _ request: DataStoreFetchRequest<T>,
    _ wanted: AggregateRequest,
    excluding excluded: ExcludedRows
  ) throws -> GroupTable {
    let query = try RowQuery(request, in: self, sorted: false)
    let measurements = try query.tables.map { table in
      try TableMeasurement(of: table, query, wanted, excluding: excluded, in: self)
    }
    let groups = GroupTable(wanted)
    for (measurement, result) in zip(measurements, try read(measurements.map(\.statement))) {
      let count = try measurement.add(result, to: groups)
      query.report(measurement.table, rowCount: count)
    }
    return groups
  }

  /// Hands the values of some columns of the rows a request asks for to a closure, row by row in order.
  ///
  /// - Throws: `DataStoreError` for what has to be done with objects, ``PostgresStoreError``, or what `body` throws.
  package func visitValues<T: PersistentModel>(
    _ request: DataStoreFetchRequest<T>,
    _ sources: [AggregateRequest.Source],
    _ body: ([QueryValue]) throws -> Void
  ) throws {
    let query = try RowQuery(request, in: self, sorted: true)
    let parts = try query.parts(.values(sources.map(\.expression)))
    let kinds = sources.map(\.kind)
    try query.visitRows(of: parts, try read(parts.map(\.statement))) { result, row in
      try body(kinds.enumerated().map { result.value(row, $0.offset, as: $0.element) })
    }
  }
}
#endif

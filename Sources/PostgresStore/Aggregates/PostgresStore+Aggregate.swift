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

  /// Reads the values of some sources of the rows a request asks for.
  ///
  /// - Throws: `DataStoreError` for what has to be done with objects, ``PostgresStoreError``, or what a column throws.
  package func readValues<T: PersistentModel>(
    _ request: DataStoreFetchRequest<T>,
    _ sources: [AggregateRequest.Source],
    into columns: [ValueColumn]
  ) throws -> ValueOrder {
    let query = try RowQuery(request, in: self, sorted: true)
    let parts = try query.parts(.values(sources.map(\.expression)))
    let kinds = sources.map(\.kind)
    var count = 0
    try query.visitRows(of: parts, try read(parts.map(\.statement))) { result, row in
      for (place, kind) in kinds.enumerated() {
        try columns[place].append(result.value(row, place, as: kind))
      }
      count += 1
    }
    return ValueOrder(count: count)
  }
}
#endif

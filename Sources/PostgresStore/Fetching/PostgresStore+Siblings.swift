#if PostgreSQL
package import ModelRuntime
package import RowFormat

extension PostgresStore {
  /// Returns the rows of a table whose reference column names any of some rows, in one round trip.
  ///
  /// - Throws: ``PostgresStoreError``.
  package func rows(
    referringToAnyOf targets: [RowReference],
    inTable number: UInt16,
    column: Int
  ) throws -> [FetchedMember] {
    guard let table = tables.table(numbered: number) else { return [] }
    let rank = table.rank(of: column)
    let order = rank.map { "COALESCE(t.\($0.name.quotedName), 0), " } ?? ""
    let statement = Statement(
      "SELECT \(table.selection) FROM \(table.name) AS t "
        + "WHERE t.\(table.columns[column].name.quotedName) = ANY ($1) ORDER BY \(order)t.\(MappedTable.key)"
    ) { $0.append(targets.map { Int64(bitPattern: $0.rawValue) }) }
    let result = try read([statement])[0]
    var builder = FetchedRowBuilder()
    var decoder = RowDecoder(table)
    var places: [(target: RowReference, rank: Int64)] = []
    places.reserveCapacity(result.rowCount)
    for row in 0..<result.rowCount {
      try decoder.withRow(row, of: result) { reference, bytes in
        builder.append(reference, row: bytes)
        let target = table.layout.reference(column, in: bytes)
        let place = rank.map(\.position).flatMap {
          table.layout.isNull($0, in: bytes) ? nil : table.layout.integer($0, in: bytes)
        }
        places.append((target, place ?? 0))
      }
    }
    return zip(places, builder.rows).map {
      FetchedMember(target: $0.target, rank: $0.rank, row: $1)
    }
  }
}
#endif

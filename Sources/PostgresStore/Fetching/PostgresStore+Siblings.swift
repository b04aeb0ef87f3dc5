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
    let reference = "t.\(table.columns[column].name.quotedName)"
    let statement =
      Statement(
        "SELECT \(table.selection) FROM \(table.name) AS t WHERE \(reference) = ANY ($1) "
          + "ORDER BY \(reference), \(order)t.\(MappedTable.key)"
      ) { $0.append(targets.map { Int64(bitPattern: $0.rawValue) }) }
      .repeated
    let result = try read([statement])[0]
    var builder = FetchedRowBuilder()
    var decoder = RowDecoder(table)
    var members: [FetchedMember] = []
    members.reserveCapacity(result.rowCount)
    for row in 0..<result.rowCount {
      try decoder.withRow(row, of: result) { reference, bytes in
        let place = rank.map(\.position).flatMap {
          table.layout.isNull($0, in: bytes) ? nil : table.layout.integer($0, in: bytes)
        }
        members.append(
          FetchedMember(
            target: table.layout.reference(column, in: bytes),
            rank: place ?? 0,
            row: builder.take(reference, row: bytes)
          )
        )
      }
    }
    return members
  }
}
#endif

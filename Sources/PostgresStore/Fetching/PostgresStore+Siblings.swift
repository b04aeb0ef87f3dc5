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
  ) throws -> FetchedMembers {
    var members = FetchedMembers()
    guard let table = tables.table(numbered: number) else { return members }
    let rank = table.rank(of: column)
    let reference = "t.\(table.columns[column].name.quotedName)"
    let statement =
      Statement(
        "SELECT \(table.selection) FROM \(table.name) AS t WHERE \(reference) = ANY ($1)"
      ) { $0.append(targets.map { Int64(bitPattern: $0.rawValue) }) }
      .repeated
    let result = try read([statement])[0]
    var decoder = RowDecoder(table)
    let (layout, place) = (table.layout, rank?.position)
    members.reserveCapacity(result.rowCount)
    for row in 0..<result.rowCount {
      try decoder.withRow(row, of: result) { reference, bytes in
        let rank = place.flatMap {
          layout.isNull($0, in: bytes) ? nil : layout.integer($0, in: bytes)
        }
        members.append(
          reference,
          row: bytes,
          to: layout.reference(column, in: bytes),
          rank: rank ?? 0
        )
      }
    }
    return members
  }
}
#endif

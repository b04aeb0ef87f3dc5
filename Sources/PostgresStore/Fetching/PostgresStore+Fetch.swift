#if PostgreSQL
public import Foundation
public import ModelRuntime
public import RowFormat

extension PostgresStore {
  /// Returns the rows a request asks for, as of one state of the database.
  ///
  /// The server filters, sorts and cuts as far as SQL can express it; the rest is left to Swift, which then reads
  /// the rows that may match.
  ///
  /// - Throws: `DataStoreError` for what has to be done with objects, or ``PostgresStoreError``.
  public func fetchRows<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> [FetchedRow] where T: PersistentModel {
    let query = try RowQuery(request, in: self, sorted: true)
    let parts = try query.parts(.rows)
    return try ask(parts) { results, connection in
      var builder = FetchedRowBuilder()
      try query.visit(parts, results, connection) { builder.append($0, row: $1) }
      return builder.rows
    }
  }

  /// Returns the names of the rows a request asks for.
  public func fetchReferences<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> [RowReference] where T: PersistentModel {
    let query = try RowQuery(request, in: self, sorted: true)
    let parts = try query.parts(.references)
    return try ask(parts) { try query.references(parts, $0, $1) }
  }

  /// Counts the rows a request asks for.
  public func fetchCount<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> Int where T: PersistentModel {
    let query = try RowQuery(request, in: self, sorted: false)
    let parts = try query.parts(.count)
    return try ask(parts) { try query.count(parts, $0, $1) }
  }

  /// Runs the statements of a fetch and hands on what they return; all that is read is of one state of the database.
  private func ask<R>(
    _ parts: [RowQuery.Part],
    _ body: ([StatementResult], Connection) throws -> R
  ) throws -> R {
    try checkOpen()
    let statements = parts.map(\.statement)
    return try pool.retrying { connection in
      if parts.count == 1, parts[0].isExact {
        return try body(connection.run(statements), connection)
      }
      do {
        let results = try connection.run([.beginSnapshot] + statements)
        let answer = try body(Array(results.dropFirst()), connection)
        _ = try connection.run([.commit])
        return answer
      } catch {
        connection.rollBack()
        throw error
      }
    }
  }

  public func rows(at references: [RowReference]) throws -> [FetchedRow?] {
    let groups = Dictionary(grouping: references, by: \.table).compactMap { number, references in
      tables.table(numbered: number).map { ($0, references) }
    }
    if groups.isEmpty { return references.map { _ in nil } }
    let results = try read(
      groups.map { $0.rows(named: $1) }
    )
    var builder = FetchedRowBuilder()
    for ((table, _), result) in zip(groups, results) {
      var decoder = RowDecoder(table)
      for row in 0..<result.rowCount {
        try decoder.withRow(row, of: result) { builder.append($0, row: $1) }
      }
    }
    let found = Dictionary(
      builder.rows.map { ($0.reference, $0) },
      uniquingKeysWith: { first, _ in first }
    )
    return references.map { found[$0] }
  }

  public func rows(
    referringTo target: RowReference,
    inTable number: UInt16,
    column: Int
  ) throws -> [ReferringRow] {
    guard let table = tables.table(numbered: number) else { return [] }
    let rank = table.rank(of: column).map { "COALESCE(\($0.name.quotedName), 0)" } ?? "0::bigint"
    let statement = Statement(
      "SELECT \(MappedTable.key), \(rank) FROM \(table.name) "
        + "WHERE \(table.columns[column].name.quotedName) = $1 ORDER BY 2, 1"
    ) { $0.append(Int64(bitPattern: target.rawValue)) }
    .repeated
    let result = try read([statement])[0]
    return (0..<result.rowCount).map { row in
      ReferringRow(
        reference: RowReference(rawValue: UInt64(bitPattern: result.integer(row, 0))),
        rank: result.integer(row, 1)
      )
    }
  }

  public func readBlob(
    _ blob: BlobReference,
    of row: RowReference,
    column: Int
  ) throws -> Data? {
    guard let statement = externalValue(of: row, column: column) else { return nil }
    let result = try read([statement])[0]
    return result.rowCount == 1 && !result.isNull(0, 0) ? Data(result.bytes(0, 0)) : nil
  }

  /// The statement that reads a value kept beside its row; `nil` if there is no such table.
  func externalValue(of row: RowReference, column: Int) -> Statement? {
    guard let table = tables.table(numbered: row.table) else { return nil }
    return Statement(
      "SELECT \(table.columns[column].name.quotedName) FROM \(table.name) WHERE \(MappedTable.key) = $1"
    ) { $0.append(Int64(bitPattern: row.rawValue)) }
  }

  /// The row of an identifier, or `nil` if it is not of this store.
  func reference(of identifier: PersistentIdentifier) -> RowReference? {
    tables.reference(of: identifier, inStore: self.identifier)
  }
}

extension MappedTable {
  /// The statement that reads rows by their names.
  func rows(named references: [RowReference]) -> Statement {
    Statement("SELECT \(selection) FROM \(name) AS t WHERE t.\(MappedTable.key) = ANY ($1)") {
      $0.append(references.map { Int64(bitPattern: $0.rawValue) })
    }
    .repeated
  }
}
#endif

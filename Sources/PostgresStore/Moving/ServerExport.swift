#if PostgreSQL
import Foundation
package import RowFormat

/// Reads the tables of a namespace as of one state, which nobody changes meanwhile.
///
/// Saves of other processes wait until it is released; if one is under way, making it fails.
package final class ServerExport {
  private let connection: Connection
  private let catalogue: StoreCatalogue
  /// The columns that the server keeps as numbers, by table.
  private var decimals: [String: Set<String>] = [:]
  /// The tables, by number.
  package private(set) var tables: [TableDescription] = []

  /// Connects, locks the tables and reads what they are.
  ///
  /// - Throws: ``PostgresStoreError``, or ``MoveError``.
  package init(url: String, namespace: String) throws {
    try PostgresStoreConfiguration(url: url, namespace: namespace).validate()
    connection = try Connection(url, applicationName: "logstore-inspect", RoundTripCounter())
    var catalogue = StoreCatalogue(connection, namespace: namespace)
    try StoreCatalogue.checkServer(connection)
    let place = "schema \(namespace) of \(connection.place)"
    // Locks come before the snapshot, which begins with the first query: so it has what their holders committed.
    _ = try connection.run([Statement("BEGIN ISOLATION LEVEL READ COMMITTED")])
    guard try catalogue.read() else { throw MoveError.noStore(place) }
    let names = ["_logstore_meta", "_logstore_entity", "_logstore_commit"] + catalogue.numbers.keys
    let present = names.filter { catalogue.columns[$0] != nil }.map(catalogue.name)
    do {
      let list = present.sorted().joined(separator: ", ")
      _ = try connection.run([Statement("LOCK TABLE \(list) IN SHARE MODE NOWAIT")])
    } catch PostgresStoreError.server(let error) where error.state == SQLState.lockNotAvailable {
      throw MoveError.sourceInUse(place, by: "another session; stop the apps first")
    }
    self.catalogue = catalogue
    try readTables(place)
  }

  deinit { connection.rollBack() }

  /// The database, for people.
  package var place: String { "schema \(catalogue.namespace) of \(connection.place)" }

  /// The identifier of the store.
  package var identifier: String { catalogue.identifier }

  /// The version of the models.
  package var version: String? { catalogue.metadata["schema.version"] }

  private func readTables(_ place: String) throws {
    let result = try connection.run([
      Statement(
        "SELECT number, name, next_key FROM \(catalogue.name("_logstore_entity")) ORDER BY number"
      )
    ])[0]
    for row in 0..<result.rowCount {
      let name = result.text(row, 1)
      let text = catalogue.metadata[TableDescription.metadataKey(of: name)]
      guard let columns = text.flatMap(TableDescription.columns) else {
        throw MoveError.otherSchema(
          namespace: catalogue.namespace,
          expected: "a description of the columns of \(name)",
          found: "none: it was last opened by an older version; open it once with the app"
        )
      }
      for column in columns {
        let declared = MappedColumn.Kind(column.type).declaration
        let stored = catalogue.columns[name]?[column.name]
        if stored == MappedColumn.Kind.decimal.declaration, column.type == .structured {
          decimals[name, default: []].insert(column.name)
        } else if stored != declared {
          throw MoveError.otherSchema(
            namespace: catalogue.namespace,
            expected: "column \(column.name) of \(name) as \(declared)",
            found: stored ?? "no such column"
          )
        }
      }
      tables.append(
        TableDescription(
          name: name,
          number: UInt16(truncatingIfNeeded: result.integer(row, 0)),
          nextKey: UInt64(bitPattern: result.integer(row, 2)),
          columns: columns
        )
      )
    }
  }

  private func name(_ table: TableDescription) -> String { catalogue.name(table.name) }

  /// The number of rows of a table.
  package func rowCount(of table: TableDescription) throws -> Int {
    Int(try connection.run([Statement("SELECT count(*) FROM \(name(table))")])[0].integer(0, 0))
  }

  /// The first place in lists that was not given out.
  package func nextRank() throws -> Int64 {
    let statement = Statement(
      "SELECT last_value, is_called FROM \(catalogue.name("_logstore_rank"))"
    )
    let result = try connection.run([statement])[0]
    return result.integer(0, 0) + (result.bool(0, 1) ? 1 << 24 : 0)
  }

  /// Visits the rows of a table, by their keys.
  ///
  /// - Parameters:
  ///   - table: The table.
  ///   - blob: Keeps a value elsewhere than in its row, and returns its name; `nil` to keep it there.
  ///   - body: Takes a row.
  /// - Returns: The digest of the rows.
  /// - Throws: ``MoveError``, ``PostgresStoreError``, or what the closures throw.
  package func forEachRow(
    of table: TableDescription,
    blob: (RawSpan) throws -> BlobReference?,
    _ body: (RowReference, RawSpan) throws -> Void
  ) throws -> RowDigest {
    let format = CopyFormat(table)
    var writer = RowWriter()
    var digest = RowDigest()
    var own = RowWriter()
    var buffer = ByteBuffer(capacity: 4096)
    try connection.forEachRow(
      of: format,
      name(table),
      decimals: decimals[table.name] ?? [],
      ordered: true
    ) { message in
      if format.isRearranged {
        try format.read(message, into: &own, blob: { _ in nil }) {
          try format.append($0, $1, to: &buffer) { _, _ in }
        }
        buffer.bytes.withUnsafeBytes { digest.add($0) }
        buffer.removeAll()
      } else {
        digest.add(message)
      }
      try format.read(message, into: &writer, blob: blob) { reference, row in
        guard reference.table == table.number, reference.key > 0 else {
          throw MoveError.otherSchema(
            namespace: catalogue.namespace,
            expected: "rows of \(table.name) with its number, \(table.number)",
            found: "\(MappedTable.key) \(Int64(bitPattern: reference.rawValue))"
          )
        }
        try body(reference, row)
      }
    }
    return digest
  }
}

extension RowDigest {
  /// The digest of rows that are not on a server.
  ///
  /// - Parameters:
  ///   - table: Their table.
  ///   - open: Reads a value that is not in its row.
  ///   - body: Hands over the rows.
  /// - Throws: ``MoveError/unstorableValue(table:key:column:reason:)``, or what the closures throw.
  package init(
    of table: TableDescription,
    open: @escaping (BlobReference, (RawSpan) throws -> Void) throws -> Void,
    _ body: (_ add: (RowReference, RawSpan) throws -> Void) throws -> Void
  ) throws {
    self.init()
    let format = CopyFormat(table)
    var buffer = ByteBuffer(capacity: 4096)
    var digest = RowDigest()
    try body { reference, row in
      try format.append(reference, row, to: &buffer, open: open)
      buffer.bytes.withUnsafeBytes { digest.add($0) }
      buffer.removeAll()
    }
    self = digest
  }
}
#endif

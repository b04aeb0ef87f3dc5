#if PostgreSQL
import Foundation
package import RowFormat

/// Makes a namespace of the tables of another store, in one transaction.
///
///     let target = try ServerImport(url: url, namespace: "trips")
///     try target.make(tables, identifier: identifier)
///     for table in tables { … try target.copy(table) { send in … } }
///     try target.commit(…)
///
/// Whatever is thrown, or if it is released before ``commit(_:version:highestRank:)``, the server is as it was.
package final class ServerImport {
  private let connection: Connection
  private let namespace: String
  private var catalogue: StoreCatalogue
  /// The tables that have their primary keys.
  private var keyed: Set<String> = []

  /// Number of bytes that are collected before they are sent.
  private static let bufferSize = 256 << 10

  /// Connects, and begins the transaction.
  ///
  /// - Throws: ``PostgresStoreError``, or ``MoveError/targetNotEmpty(_:found:)`` if the namespace has any table.
  package init(url: String, namespace: String) throws {
    try PostgresStoreConfiguration(url: url, namespace: namespace).validate()
    connection = try Connection(url, applicationName: "logstore-inspect", RoundTripCounter())
    self.namespace = namespace
    catalogue = StoreCatalogue(connection, namespace: namespace)
    try StoreCatalogue.checkServer(connection)
    _ = try connection.run([.begin, .lock(namespace)])
    try checkEmpty()
    _ = try connection.run([Statement("SAVEPOINT beginning")])
  }

  /// Takes back all that was made, and keeps apps waiting that want to open the namespace.
  ///
  /// - Throws: ``PostgresStoreError``.
  package func startAgain() throws {
    _ = try connection.run([Statement("ROLLBACK TO SAVEPOINT beginning")])
    catalogue = StoreCatalogue(connection, namespace: namespace)
    keyed = []
  }

  deinit { connection.rollBack() }

  /// The database, for people.
  package var place: String { "schema \(namespace) of \(connection.place)" }

  private func checkEmpty() throws {
    let relations = Statement(
      "SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        + "WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f') ORDER BY 1"
    ) { $0.append(namespace) }
    let result = try connection.run([relations])[0]
    guard result.rowCount > 0 else { return }
    let names = (0..<min(result.rowCount, 3)).map { result.text($0, 0) }.joined(separator: ", ")
    let more = result.rowCount > 3 ? " and \(result.rowCount - 3) more" : ""
    throw MoveError.targetNotEmpty(place, found: names + more)
  }

  /// Checks that the tables' names can be used.
  ///
  /// - Throws: ``PostgresStoreError/unusableName(_:reason:)``.
  package func check(_ tables: [TableDescription]) throws {
    for table in tables {
      try MappedTable.check(table.name)
      for column in table.columns { try MappedTable.check(column.name) }
    }
  }

  /// Makes the tables, without rows.
  ///
  /// - Parameters:
  ///   - tables: The tables.
  ///   - identifier: The identifier of the store, which its models' identifiers name.
  /// - Throws: ``PostgresStoreError``.
  package func make(_ tables: [TableDescription], identifier: String) throws {
    try check(tables)
    try catalogue.create(identifier: identifier)
    // Tokens of the other store are of the time before, and expire.
    let now = try connection.run([Statement("SELECT pg_current_xact_id()::text")])[0]
    try catalogue.set("history.deleted", now.text(0, 0))
    for table in tables {
      let columns = table.columns.map { column in
        let kind = MappedColumn.Kind(column.type)
        return ", \(column.name.quotedName) \(kind.declaration)\(kind.collation)"
      }
      // The primary key comes later: it is made faster of rows that are there.
      try catalogue.change(
        "CREATE TABLE \(name(table)) (\(MappedTable.key) bigint NOT NULL\(columns.joined()))"
      )
      for column in table.columns where column.type == .blob {
        try catalogue.change(
          "ALTER TABLE \(name(table)) ALTER COLUMN \(column.name.quotedName) SET STORAGE EXTERNAL"
        )
      }
      try catalogue.set(TableDescription.metadataKey(of: table.name), table.columnsText)
    }
  }

  private func name(_ table: TableDescription) -> String { catalogue.name(table.name) }

  /// Copies the rows of a table.
  ///
  /// - Parameters:
  ///   - table: The table.
  ///   - open: Reads a value that is not in its row.
  ///   - body: Hands over the rows.
  /// - Returns: The digest of what was sent, and the rows of which `open` threw ``VanishedValue``.
  /// - Throws: ``MoveError/unstorableValue(table:key:column:reason:)``, ``PostgresStoreError``, or what the closures
  ///   throw.
  package func copy(
    _ table: TableDescription,
    open: @escaping (BlobReference, (RawSpan) throws -> Void) throws -> Void,
    _ body: (_ add: (RowReference, RawSpan) throws -> Void) throws -> Void
  ) throws -> (sent: RowDigest, skipped: [RowReference]) {
    // Frozen: the rows are not read again only to note that they were committed.
    try copy(table, ", FREEZE", open, body)
  }

  private func copy(
    _ table: TableDescription,
    _ options: String,
    _ open: @escaping (BlobReference, (RawSpan) throws -> Void) throws -> Void,
    _ body: (_ add: (RowReference, RawSpan) throws -> Void) throws -> Void
  ) throws -> (sent: RowDigest, skipped: [RowReference]) {
    let format = CopyFormat(table)
    let columns = ([MappedTable.key] + format.columnNames.map(\.quotedName))
      .joined(separator: ", ")
    let sql = "COPY \(name(table)) (\(columns)) FROM STDIN WITH (FORMAT binary\(options))"
    return try connection.copyIn(sql) { send in
      var digest = RowDigest()
      var skipped: [RowReference] = []
      var buffer = ByteBuffer(capacity: ServerImport.bufferSize * 2)
      let (header, trailer) = (CopyFormat.header, CopyFormat.trailer)
      buffer.append(header.span.bytes)
      try body { reference, row in
        let start = buffer.count
        do {
          try format.append(reference, row, to: &buffer, open: open)
        } catch is VanishedValue {
          buffer.truncate(to: start)
          skipped.append(reference)
          return
        }
        buffer.bytes.withUnsafeBytes {
          digest.add(UnsafeRawBufferPointer(rebasing: $0[start...]))
        }
        if buffer.count >= ServerImport.bufferSize {
          try buffer.bytes.withUnsafeBytes(send)
          buffer.removeAll()
        }
      }
      buffer.append(trailer.span.bytes)
      try buffer.bytes.withUnsafeBytes(send)
      return (digest, skipped)
    }
  }

  /// Replaces rows that may have changed or gone since they were copied.
  /// - Parameters:
  ///   - keys: Their keys; the rows that the closure does not hand over are removed.
  ///   - table: The table.
  ///   - open: Reads a value that is not in its row.
  ///   - body: Hands over the rows that exist.
  /// - Returns: The digests of the former rows, of the rows sent, and of the rows there now.
  /// - Throws: As ``copy(_:open:_:)``.
  /// - Complexity: O(keys), in five round trips.
  package func replace(
    _ keys: [UInt64],
    in table: TableDescription,
    open: @escaping (BlobReference, (RawSpan) throws -> Void) throws -> Void,
    _ body: (_ add: (RowReference, RawSpan) throws -> Void) throws -> Void
  ) throws -> RowReplacement {
    try addKey(to: table)
    let rows = keys.map {
      Int64(bitPattern: RowReference(table: table.number, key: $0).rawValue)
    }
    var replacement = RowReplacement()
    replacement.removed = try connection.digest(of: table, name(table), rows: rows)
    let deletion = Statement("DELETE FROM \(name(table)) WHERE \(MappedTable.key) = ANY ($1)") {
      $0.append(rows)
    }
    _ = try connection.run([deletion])
    (replacement.sent, replacement.skipped) = try copy(table, "", open, body)
    replacement.found = try connection.digest(of: table, name(table), rows: rows)
    return replacement
  }

  /// Makes the primary key of a table, once: faster of rows that are there than one by one.
  private func addKey(to table: TableDescription) throws {
    guard keyed.insert(table.name).inserted else { return }
    try catalogue.change("ALTER TABLE \(name(table)) ADD PRIMARY KEY (\(MappedTable.key))")
  }

  /// Makes the primary keys of tables, and the indexes of their lists, so that the app that opens the namespace first
  /// need not.
  ///
  /// A column with the places of rows in lists shows such an index. Those that only the models declare are left to the app.
  ///
  /// - Throws: ``PostgresStoreError``.
  package func addIndexes(to tables: [TableDescription]) throws {
    for table in tables {
      try addKey(to: table)
      for column in table.columns where column.type == .reference {
        let rank = RankColumn.name(for: column.name)
        guard table.columns.contains(where: { $0.name == rank && $0.type == .integer }) else {
          continue
        }
        try catalogue.addInverseIndex(of: column.name, rank: rank, on: table.name)
      }
    }
  }

  /// Reads back what the server has of a table.
  ///
  /// - Parameters:
  ///   - table: The table.
  ///   - progress: Called now and then with the number of rows that were read.
  /// - Returns: The digest.
  /// - Throws: ``PostgresStoreError``, or what `progress` throws.
  package func digest(
    of table: TableDescription,
    progress: (Int) throws -> Void
  ) throws -> RowDigest {
    try connection.digest(of: table, name(table), progress: progress)
  }

  /// Ends the transaction: from now on apps can use the namespace.
  ///
  /// - Parameters:
  ///   - tables: The tables, each with the key that its next row gets.
  ///   - version: The version of the models, as the other store keeps it.
  ///   - highestRank: The last place that was given to a member of a list.
  /// - Throws: ``PostgresStoreError``.
  package func commit(
    _ tables: [TableDescription],
    version: String?,
    highestRank: Int64
  ) throws {
    try addIndexes(to: tables)
    if let version { try catalogue.set("schema.version", version) }
    let notes = tables.map { table in
      Statement("INSERT INTO \(catalogue.name("_logstore_entity")) VALUES ($1, $2, $3)") {
        $0.append(Int(table.number))
        $0.append(table.name)
        $0.append(Int64(table.nextKey))
      }
    }
    // A block of places begins with each number of the sequence.
    let block: Int64 = 1 << 24
    let next = max(block, (highestRank / block + 1) * block)
    let rank = Statement("SELECT setval($1::regclass, $2, false)") {
      $0.append(catalogue.name("_logstore_rank"))
      $0.append(next)
    }
    _ = try connection.run(notes + [rank, .commit])
  }

  /// Gathers statistics, so that the first queries are planned for the rows there are; the move does not depend on them.
  package func analyze(_ tables: [TableDescription]) {
    for table in tables { _ = try? connection.run([Statement("ANALYZE \(name(table))")]) }
  }
}

extension Connection {
  /// The digest of the rows of a table.
  ///
  /// - Parameters:
  ///   - table: The table.
  ///   - name: Its name in SQL.
  ///   - decimals: The columns that the server keeps as numbers, and rows as composites.
  ///   - rows: The rows, by their `_id`; all, if `nil`.
  ///   - progress: Called now and then with the number of rows that were read.
  /// - Returns: The digest.
  /// - Throws: ``PostgresStoreError``, or what `progress` throws.
  func digest(
    of table: TableDescription,
    _ name: String,
    decimals: Set<String> = [],
    rows: [Int64]? = nil,
    progress: (Int) throws -> Void = { _ in }
  ) throws -> RowDigest {
    let format = CopyFormat(table)
    var digest = RowDigest()
    var reader = CopyReader(format)
    var buffer = ByteBuffer(capacity: 4096)
    func add(_ reference: RowReference, _ row: RawSpan) throws {
      try format.append(reference, row, to: &buffer) { _, _ in }
      buffer.bytes.withUnsafeBytes { digest.add($0) }
      buffer.removeAll()
    }
    try forEachRow(of: format, name, decimals: decimals, rows: rows, ordered: false) { message in
      if format.isRearranged {
        try reader.read(message, blob: { _ in nil }, add)
      } else {
        digest.add(message)
      }
      if digest.rowCount & 0xFFF == 0 { try progress(digest.rowCount) }
    }
    return digest
  }

  /// Reads the rows of a table, as they travel.
  func forEachRow(
    of format: CopyFormat,
    _ name: String,
    decimals: Set<String>,
    rows: [Int64]?,
    ordered: Bool,
    _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let columns = format.columnNames.map { column in
      decimals.contains(column)
        ? "to_jsonb(\(column.quotedName)::text)" : column.quotedName
    }
    let selection = ([MappedTable.key] + columns).joined(separator: ", ")
    // COPY takes no parameters.
    let condition = rows.map {
      " WHERE \(MappedTable.key) = ANY ('{\($0.map(String.init).joined(separator: ","))}'::bigint[])"
    }
    let order = ordered ? " ORDER BY \(MappedTable.key)" : ""
    var isFirst = true
    let query = "SELECT \(selection) FROM \(name)\(condition ?? "")\(order)"
    try copyOut("COPY (\(query)) TO STDOUT WITH (FORMAT binary)") {
      var message = $0
      if isFirst {
        isFirst = false
        // The header comes with the first row.
        message = UnsafeRawBufferPointer(
          rebasing: message.dropFirst(CopyFormat.header.count)
        )
        if message.isEmpty { return }
      }
      if message.count == 2, message[0] == 0xFF, message[1] == 0xFF { return }
      try body(message)
    }
  }
}
#endif

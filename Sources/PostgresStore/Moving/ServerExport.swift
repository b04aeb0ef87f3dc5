#if PostgreSQL
import Foundation
package import RowFormat

/// Reads the tables of a namespace as of one state, and then what was saved since.
///
///     let source = try ServerExport(url: url, namespace: "trips", .besideApps)
///     for table in source.tables { … try source.forEachRow(of: table, …) { … } }
///     while let rows = try source.advance() { … }
///
/// The server's snapshots tell the changes: a transaction of the history counts if an earlier snapshot did not see it
/// and the next one does, in whatever order they began.
package final class ServerExport {
  /// Whether apps may save meanwhile.
  package enum Access: Sendable, Hashable {
    /// Saves of other processes wait; if one is under way for longer than ten seconds, the export fails.
    case alone
    case besideApps
  }

  private let connection: Connection
  private var catalogue: StoreCatalogue
  private let namespace: String
  /// The columns that the server keeps as numbers, by table.
  private var decimals: [String: Set<String>] = [:]
  /// The tables, by number.
  package private(set) var tables: [TableDescription] = []
  /// The snapshot of the rows that are now read.
  private var snapshot = Snapshot()

  /// A snapshot as the server writes it: it says which of the transactions from `oldest` on are seen.
  private struct Snapshot {
    var text = ""
    var oldest: Int64 = 0
  }

  /// The longest wait for others' locks: autovacuum yields after the server's `deadlock_timeout`, a second by default.
  private static let lockTimeout = "10s"

  /// Connects, and reads what the tables are.
  ///
  /// - Throws: ``PostgresStoreError``, or ``MoveError``.
  package init(url: String, namespace: String, _ access: Access = .alone) throws {
    try PostgresStoreConfiguration(url: url, namespace: namespace).validate()
    connection = try Connection(url, applicationName: "logstore-inspect", RoundTripCounter())
    self.namespace = namespace
    catalogue = StoreCatalogue(connection, namespace: namespace)
    try StoreCatalogue.checkServer(connection)
    switch access {
    case .alone:
      // Locks come before the snapshot, which begins with the first query: so it has what their holders committed.
      _ = try connection.run(ServerExport.beginLocking)
      try readCatalogue()
      try lockTables()
      // A migration may have changed it while the locks were waited for.
      try readCatalogue()
      try readSnapshot()
      try readTables()
    case .besideApps: try beginSnapshot()
    }
  }

  private static let beginLocking = [
    Statement("BEGIN ISOLATION LEVEL READ COMMITTED"),
    Statement("SET LOCAL lock_timeout = '\(lockTimeout)'"),
  ]

  /// Keeps savers waiting until the export ends.
  private func lockTables() throws {
    // The table of commits comes first: each save writes there before it locks another table.
    let names =
      ["_logstore_commit", "_logstore_meta", "_logstore_entity"] + catalogue.numbers.keys.sorted()
    let list = names.filter { catalogue.columns[$0] != nil }.map(catalogue.name)
      .joined(separator: ", ")
    do {
      _ = try connection.run([Statement("LOCK TABLE \(list) IN SHARE MODE")])
    } catch PostgresStoreError.server(let error) where error.state == SQLState.lockNotAvailable {
      throw MoveError.sourceInUse(place, by: "another session; stop the apps first")
    }
  }

  private func beginSnapshot() throws {
    _ = try connection.run([.beginSnapshot])
    try readSnapshot()
    try readCatalogue()
    try readTables()
  }

  private func readSnapshot() throws {
    let result = try connection.run([
      Statement("SELECT s::text, pg_snapshot_xmin(s)::text::bigint FROM pg_current_snapshot() AS s")
    ])[0]
    snapshot = Snapshot(text: result.text(0, 0), oldest: result.integer(0, 1))
  }

  private func readCatalogue() throws {
    catalogue = StoreCatalogue(connection, namespace: namespace)
    guard try catalogue.read() else { throw MoveError.noStore(place) }
  }

  deinit { connection.rollBack() }

  /// The database, for people.
  package var place: String { "schema \(namespace) of \(connection.place)" }

  /// The snapshot of the server that is read, for people.
  package var state: String { "snapshot \(snapshot.text)" }

  /// The identifier of the store.
  package var identifier: String { catalogue.identifier }

  /// The version of the models.
  package var version: String? { catalogue.metadata["schema.version"] }

  private func readTables() throws {
    tables = []
    decimals = [:]
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
          namespace: namespace,
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
            namespace: namespace,
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

  /// The number of rows of a table as of its last statistics; counted if there are none.
  package func expectedRowCount(of table: TableDescription) throws -> Int {
    let statistics = Statement("SELECT reltuples::bigint FROM pg_class WHERE oid = to_regclass($1)")
    {
      $0.append(name(table))
    }
    let result = try connection.run([statistics])[0]
    guard result.rowCount == 1, result.integer(0, 0) > 0 else { return try rowCount(of: table) }
    return Int(result.integer(0, 0))
  }

  /// The first place in lists that was not allocated.
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
  ///   - keys: The keys of the rows; all rows, if `nil`.
  ///   - blob: Keeps a value elsewhere than in its row, and returns its name; `nil` to keep it there.
  ///   - body: Takes a row.
  /// - Returns: The digest of the rows.
  /// - Throws: ``MoveError``, ``PostgresStoreError``, or what the closures throw.
  package func forEachRow(
    of table: TableDescription,
    keys: [UInt64]? = nil,
    blob: (RawSpan) throws -> BlobReference?,
    _ body: (RowReference, RawSpan) throws -> Void
  ) throws -> RowDigest {
    let format = CopyFormat(table)
    var reader = CopyReader(format)
    var digest = RowDigest()
    var buffer = ByteBuffer(capacity: 4096)
    try connection.forEachRow(
      of: format,
      name(table),
      decimals: decimals[table.name] ?? [],
      rows: keys?.map { Int64(bitPattern: RowReference(table: table.number, key: $0).rawValue) },
      ordered: true
    ) { message in
      if format.isRearranged {
        try reader.read(message, blob: { _ in nil }) {
          try format.append($0, $1, to: &buffer) { _, _ in }
        }
        buffer.bytes.withUnsafeBytes { digest.add($0) }
        buffer.removeAll()
      } else {
        digest.add(message)
      }
      try reader.read(message, blob: blob) { reference, row in
        guard reference.table == table.number, reference.key > 0 else {
          throw MoveError.otherSchema(
            namespace: namespace,
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

// MARK: Beside apps

extension ServerExport {
  /// Moves on to the newest state.
  ///
  /// - Returns: The rows that may have changed since the last one; `nil` if all have to be read again, since tables were
  ///   changed, or history was deleted.
  /// - Throws: ``PostgresStoreError``, or ``MoveError``.
  package func advance() throws -> [RowReference]? {
    let former = Former(snapshot, tables, deletion)
    _ = try connection.run([.commit])
    try beginSnapshot()
    return try changes(since: former)
  }

  /// Moves on to the newest state, after which nothing is saved until the export ends.
  ///
  /// - Returns: As ``advance()``.
  /// - Throws: ``MoveError/sourceInUse(_:by:)`` if a save takes longer than ten seconds; otherwise as ``advance()``.
  package func advanceAndLock() throws -> [RowReference]? {
    let former = Former(snapshot, tables, deletion)
    _ = try connection.run([.commit] + ServerExport.beginLocking)
    try lockTables()
    try readSnapshot()
    try readCatalogue()
    try readTables()
    return try changes(since: former)
  }

  /// The state that was read before.
  private struct Former {
    let snapshot: Snapshot
    let tables: [TableDescription]
    let deletion: Deletion

    init(_ snapshot: Snapshot, _ tables: [TableDescription], _ deletion: Deletion) {
      self.snapshot = snapshot
      self.tables = tables
      self.deletion = deletion
    }
  }

  /// The deletions from the history so far.
  private struct Deletion: Equatable {
    /// The newest transaction that was deleted.
    let newest: Int64?
    /// Number of deletions: a deletion of older transactions does not change which is the newest.
    let count: String?
  }

  private var deletion: Deletion {
    let metadata = catalogue.metadata
    return Deletion(
      newest: metadata["history.deleted"].flatMap(Int64.init),
      count: metadata["history.deletions"]
    )
  }

  private func changes(since former: Former) throws -> [RowReference]? {
    guard former.tables.map(\.withoutKeys) == tables.map(\.withoutKeys) else { return nil }
    let oldest = former.snapshot.oldest
    if deletion != former.deletion, let newest = deletion.newest, newest >= oldest { return nil }
    let changes = Statement(
      "SELECT DISTINCT row FROM \(catalogue.name("_logstore_change")) WHERE xid >= $1 "
        + "AND NOT pg_visible_in_snapshot(xid::text::xid8, $2::text::pg_snapshot) ORDER BY row"
    ) {
      $0.append(oldest)
      $0.append(former.snapshot.text)
    }
    let result = try connection.run([changes])[0]
    return (0..<result.rowCount).map {
      RowReference(rawValue: UInt64(bitPattern: result.integer($0, 0)))
    }
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

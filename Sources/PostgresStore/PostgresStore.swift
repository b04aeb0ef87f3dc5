#if PostgreSQL
public import Foundation
public import ModelRuntime
import RowFormat
import Synchronization

/// A store that keeps models in the tables of a PostgreSQL server.
///
/// Use it by naming it in a container's configuration; see ``PostgresStoreConfiguration``. Any number of processes, on
/// any number of machines, may have the same namespace open. Each operation borrows a session from the store's pool.
public final class PostgresStore: RowStore, SiblingLoadingStore, DataStoreClosing, Sendable {
  public typealias Configuration = PostgresStoreConfiguration
  public typealias Snapshot = DefaultSnapshot

  private let given: SendableConfiguration
  public let schema: Schema
  /// The name in permanent identifiers; made with the store, and kept in it.
  public let identifier: String
  let tables: TableMap
  let pool: ConnectionPool
  let historyName: HistoryStoreName
  /// Tells this opening of the store from others.
  let source: UUID
  /// The channel on which stores over the same tables announce their saves.
  let channel: String
  let bell: SaveBell
  let historyKeeper: HistoryKeeper
  let turns = Turns()
  /// The migration that the store is a part of; `nil` for a store that is open to all.
  let migration: MigrationTransaction?
  let feeds = WeakReferences<RemoteRowFeed>()
  let watches = WeakReferences<RemoteSaveWatch>()
  let savesUnderWay = SavesUnderWay()
  let announcementTexts: Announcement.Texts
  let runTexts = RunTexts()
  private let keys = Mutex<[UInt16: Range<UInt64>]>([:])

  /// The configuration, which is not changed after opening.
  private struct SendableConfiguration: @unchecked Sendable {
    let value: PostgresStoreConfiguration
  }

  public var configuration: PostgresStoreConfiguration { given.value }
  public var allowsSave: Bool { configuration.allowsSave }

  /// Number of keys that are taken from the server at once.
  private static let keyBlock = 1000

  /// Opens the store: makes its namespace and tables if they are not there, and migrates them if they are older.
  ///
  /// - Throws: ``PostgresStoreError``, or `SwiftDataError` for versions that no way leads from or to.
  public init(
    _ configuration: PostgresStoreConfiguration,
    migrationPlan: (any SchemaMigrationPlan.Type)?
  ) throws {
    given = SendableConfiguration(value: configuration)
    announcementTexts = Announcement.Texts(namespace: configuration.namespace)
    let schema = configuration.schema ?? Schema([])
    self.schema = schema
    pool = ConnectionPool(
      url: configuration.url,
      limit: configuration.connectionLimit,
      budget: configuration.reconnectBudget,
      applicationName: "logstore",
      statementLimit: configuration.statementTimeout.map(StatementLimit.init)
    )
    let request = StoreCatalogue.Request(
      namespace: configuration.namespace,
      schema: schema,
      plan: migrationPlan,
      allowsSave: configuration.allowsSave,
      newerStores: configuration.newerStores,
      uniquenessPolicy: configuration.uniquenessPolicy,
      openVersion: { PostgresStore($0, configuration) }
    )
    (identifier, tables) = try pool.retrying { connection in
      // A migration takes as long as the tables are large, and others wait for it.
      try connection.withoutLimit { try StoreCatalogue.open(request, on: connection) }
    }
    historyName = HistoryStoreName(identifier)
    source = UUID()
    channel = "logstore_\(identifier)"
    bell = SaveBell(channel: channel, pool)
    historyKeeper = HistoryKeeper(
      HistoryDeletion(configuration),
      age: configuration.historyAge,
      pool
    )
    migration = nil
    if allowsSave { historyKeeper.begin() }
  }

  /// Opens the store in the middle of a migration, for the code of a stage.
  ///
  /// - Parameters:
  ///   - version: The version of the models, with the transaction in which everything is read and saved.
  ///   - configuration: The configuration of the store.
  private init(
    _ version: StoreCatalogue.OpenedVersion,
    _ configuration: PostgresStoreConfiguration
  ) {
    var configuration = configuration
    configuration.schema = version.schema
    given = SendableConfiguration(value: configuration)
    announcementTexts = Announcement.Texts(namespace: configuration.namespace)
    schema = version.schema
    identifier = version.identifier
    tables = version.tables
    let migration = version.transaction
    self.migration = migration
    pool = ConnectionPool(lending: migration.connection, budget: configuration.reconnectBudget)
    historyName = HistoryStoreName(identifier)
    source = migration.source
    channel = "logstore_\(identifier)"
    bell = SaveBell(channel: channel, pool)
    historyKeeper = HistoryKeeper(
      HistoryDeletion(configuration),
      age: configuration.historyAge,
      pool
    )
  }

  /// Waits for the saves that are under way, and gives back all sessions.
  ///
  /// Any later request to the store throws `SwiftDataError.storeClosed`. The session that listens for the saves of others
  /// ends within a second.
  public func close() throws {
    savesUnderWay.close()
    for watch in watches.all { watch.stop() }
    pool.close()
  }

  func checkOpen() throws { if savesUnderWay.isClosed { throw closed } }

  var closed: SwiftDataError {
    .storeClosed.explained(
      "the store in schema \(configuration.namespace) was closed: make another container"
    )
  }

  /// Number of the store's waits for an answer of its server: the figure that decides how long its operations take.
  public var roundTripCount: Int { pool.roundTrips.value }

  func name(_ table: String) -> String { "\(configuration.namespace.quotedName).\(table)" }

  /// Runs statements that only read; again, if the session was lost.
  func read(_ statements: [Statement]) throws -> [StatementResult] {
    try checkOpen()
    return try pool.retrying { connection in
      // Several statements are to see one state.
      if statements.count == 1 { return try connection.run(statements) }
      do {
        let results = try connection.run([.beginSnapshot] + statements + [.commit])
        return Array(results.dropFirst().dropLast())
      } catch {
        connection.rollBack()
        throw error
      }
    }
  }

  // MARK: Names

  public func table(forEntityNamed name: String) -> UInt16? {
    tables.table(forEntityNamed: name)?.number
  }

  public func reserveKeys(_ count: Int, inTable table: UInt16) throws -> Range<UInt64> {
    try checkOpen()
    if let known = takeKeys(count, table) { return known }
    // A caller that asks for many keys asks again: a round trip for each eight such saves.
    let block = max(count, min(count, 1 << 20) * 8, PostgresStore.keyBlock)
    let statement = Statement(
      "UPDATE \(name("_logstore_entity")) SET next_key = next_key + $2 WHERE number = $1 "
        + "RETURNING next_key - $2"
    ) {
      $0.append(Int(table))
      $0.append(block)
    }
    // If the answer is lost, a block of keys is lost with it, which is allowed.
    let first = try pool.retrying { try $0.run([statement])[0] }
    let start = UInt64(bitPattern: first.integer(0, 0))
    guard start + UInt64(block) <= RowReference.maximumKey else {
      throw PostgresStoreError.unstorableValue(
        entity: tables.table(numbered: table)?.descriptor.entityName ?? "\(table)",
        property: MappedTable.key,
        key: start,
        reason: "all 2^48 keys of the table were given out"
      )
    }
    let end = start + UInt64(block)
    keys.withLock { $0[table] = (start + UInt64(count))..<end }
    return start..<(start + UInt64(count))
  }

  private func takeKeys(_ count: Int, _ table: UInt16) -> Range<UInt64>? {
    keys.withLock { keys in
      guard let known = keys[table], known.count >= count else { return nil }
      let end = known.lowerBound + UInt64(count)
      keys[table] = end..<known.upperBound
      return known.lowerBound..<end
    }
  }

  public func reserveRanks(_ count: Int) throws -> Range<Int64> {
    try checkOpen()
    // Asked for each time: numbers that were taken earlier would lie before those that others took since.
    let block: Int64 = 1 << 24
    let first = try pool.retrying { connection in
      try connection.run([
        Statement("SELECT nextval($1::regclass)") { $0.append(name("_logstore_rank")) }
      ])[0].integer(0, 0)
    }
    precondition(count <= block, "a save gives at most \(block) members a place")
    return first..<(first + Int64(count))
  }

  public var roundsDates: Bool { true }
  public func storedDate(_ date: Date) -> Date { PostgresDate.storedDate(date) }

  /// Deletes every row of every table, in one transaction.
  public func erase() throws {
    let sink = try fetchAllReferences()
    _ = try saveRows(for: EditingState(), sink)
  }

  private func fetchAllReferences() throws -> (any RowChangeSink) throws -> Void {
    let results = try read(
      tables.tables.map { Statement("SELECT \(MappedTable.key) FROM \($0.name)") }
    )
    return { sink in
      for result in results {
        for row in 0..<result.rowCount {
          sink.delete(RowReference(rawValue: UInt64(bitPattern: result.integer(row, 0))))
        }
      }
    }
  }
}
#endif

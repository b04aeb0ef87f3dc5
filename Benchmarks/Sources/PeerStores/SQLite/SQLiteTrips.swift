#if SQLITE
import CSQLite
import Foundation
import Harness
import Workloads

/// Trips in SQLite's C API: one table, prepared statements kept, a write-ahead log.
final class SQLiteTrips: MixedTripStore {
  /// The users of the database.
  enum Use {
    case processes
    /// This process, which then needs no locks of the system, and maps the file.
    case oneProcess
  }

  static func settings(
    _ durability: Durability,
    _ use: Use = .processes,
    cacheMebibytes: Int = 256
  ) -> String {
    """
    SQLite \(String(cString: sqlite3_libversion())), WAL, cache_size \(cacheMebibytes) MiB, prepared statements, \
    synchronous \(durability == .full ? "FULL" : "NORMAL")\(use == .oneProcess ? ", locking_mode EXCLUSIVE, mmap_size 2 GiB" : "")
    """
  }

  private var database: OpaquePointer?
  private var statements: [OpaquePointer?] = []
  private let folder: URL
  private let durability: Durability
  private let cacheMebibytes: Int

  private enum Statement: Int, CaseIterable {
    case begin, commit, insert, read, raise, count, earliest, first, range, replace

    var sql: String {
      switch self {
      case .begin: "BEGIN IMMEDIATE"
      case .commit: "COMMIT"
      case .insert: "INSERT INTO trip VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
      case .read: "SELECT * FROM trip WHERE id = ?"
      case .raise: "UPDATE trip SET rating = rating + 1 WHERE id = ?"
      case .count: "SELECT count(*) FROM trip WHERE destination = ? AND rating > ?"
      case .earliest: "SELECT * FROM trip ORDER BY startDate LIMIT ?"
      case .first: "SELECT * FROM trip ORDER BY id LIMIT ?"
      case .range: "SELECT * FROM trip WHERE id >= ? ORDER BY id LIMIT ?"
      case .replace: "INSERT OR REPLACE INTO trip VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
      }
    }
  }

  init(
    _ folder: URL,
    _ durability: Durability,
    _ use: Use = .processes,
    cacheMebibytes: Int = 256
  ) throws {
    self.folder = folder
    self.durability = durability
    self.cacheMebibytes = cacheMebibytes
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    try check(sqlite3_open_v2(folder.path + "/trips.sqlite", &database, flags, nil))
    if use == .oneProcess {
      let pragmas = "PRAGMA locking_mode = EXCLUSIVE; PRAGMA mmap_size = 2147418112"
      try check(sqlite3_exec(database, pragmas, nil, nil, nil))
    }
    try check(
      sqlite3_exec(
        database,
        """
        PRAGMA busy_timeout = 30000;
        PRAGMA journal_mode = WAL;
        PRAGMA cache_size = -\(cacheMebibytes << 10);
        PRAGMA synchronous = \(durability == .full ? "FULL" : "NORMAL");
        CREATE TABLE IF NOT EXISTS trip (
          id INTEGER PRIMARY KEY, name TEXT NOT NULL, destination TEXT NOT NULL,
          startDate REAL NOT NULL, endDate REAL NOT NULL, rating INTEGER NOT NULL,
          isFavorite INTEGER NOT NULL, note TEXT NOT NULL, tag TEXT
        );
        """,
        nil,
        nil,
        nil
      )
    )
    for statement in Statement.allCases {
      var prepared: OpaquePointer?
      try check(sqlite3_prepare_v2(database, statement.sql, -1, &prepared, nil))
      statements.append(prepared)
    }
  }

  func insert(_ records: ArraySlice<TripRecord>, firstKey: UInt64) throws {
    try write(records, .insert) { offset, _ in Int64(firstKey) + Int64(offset) }
  }

  func overwrite(_ records: ArraySlice<TripRecord>) throws {
    try write(records, .replace) { Int64($1.id) }
  }

  private func write(
    _ records: ArraySlice<TripRecord>,
    _ statement: Statement,
    _ key: (Int, TripRecord) -> Int64
  ) throws {
    try inTransaction(records.count) {
      let insert = statements[statement.rawValue]
      for (offset, record) in records.enumerated() {
        sqlite3_bind_int64(insert, 1, key(offset, record))
        bind(record.name, insert, 2)
        bind(record.destination, insert, 3)
        sqlite3_bind_double(insert, 4, record.startDate)
        sqlite3_bind_double(insert, 5, record.endDate)
        sqlite3_bind_int64(insert, 6, record.rating)
        sqlite3_bind_int64(insert, 7, record.isFavorite ? 1 : 0)
        bind(record.note, insert, 8)
        if let tag = record.tag { bind(tag, insert, 9) } else { sqlite3_bind_null(insert, 9) }
        try run(insert)
      }
    }
  }

  func read(_ key: UInt64) throws -> Int {
    let read = statements[Statement.read.rawValue]
    sqlite3_bind_int64(read, 1, Int64(key))
    defer { sqlite3_reset(read) }
    guard sqlite3_step(read) == SQLITE_ROW else { throw PeerError(.sqlite, "no trip \(key)") }
    return record(read).checksum
  }

  func readEarliest(_ count: Int) throws -> Int { try readAll(.earliest, count) }

  func readFirst(_ count: Int) throws -> Int { try readAll(.first, count) }

  func read(_ count: Int, from first: UInt64) throws -> Int {
    let read = statements[Statement.range.rawValue]
    sqlite3_bind_int64(read, 1, Int64(first))
    sqlite3_bind_int64(read, 2, Int64(count))
    return sum(of: read)
  }

  private func readAll(_ kind: Statement, _ count: Int) throws -> Int {
    let read = statements[kind.rawValue]
    sqlite3_bind_int64(read, 1, Int64(count))
    return sum(of: read)
  }

  private func sum(of read: OpaquePointer?) -> Int {
    defer { sqlite3_reset(read) }
    var sum = 0
    while sqlite3_step(read) == SQLITE_ROW { sum += record(read).checksum }
    return sum
  }

  private func record(_ row: OpaquePointer?) -> TripRecord {
    TripRecord(
      id: UInt64(sqlite3_column_int64(row, 0)),
      name: text(row, 1),
      destination: text(row, 2),
      startDate: sqlite3_column_double(row, 3),
      endDate: sqlite3_column_double(row, 4),
      rating: sqlite3_column_int64(row, 5),
      isFavorite: sqlite3_column_int64(row, 6) != 0,
      note: text(row, 7),
      tag: sqlite3_column_type(row, 8) == SQLITE_NULL ? nil : text(row, 8)
    )
  }

  /// Adds an index for each column queries ask for.
  ///
  /// - Throws: ``PeerError``.
  func makeIndexes() throws {
    let sql = """
      CREATE INDEX IF NOT EXISTS destinations ON trip (destination);
      CREATE INDEX IF NOT EXISTS startDates ON trip (startDate);
      """
    try check(sqlite3_exec(database, sql, nil, nil, nil))
  }

  func raiseRatings(_ keys: ArraySlice<UInt64>) throws {
    try inTransaction(keys.count) {
      let raise = statements[Statement.raise.rawValue]
      for key in keys {
        sqlite3_bind_int64(raise, 1, Int64(key))
        try run(raise)
      }
    }
  }

  func count(destination: String, ratingAbove rating: Int64) throws -> Int {
    let count = statements[Statement.count.rawValue]
    bind(destination, count, 1)
    sqlite3_bind_int64(count, 2, rating)
    defer { sqlite3_reset(count) }
    guard sqlite3_step(count) == SQLITE_ROW else { throw PeerError(.sqlite, "no count") }
    return Int(sqlite3_column_int64(count, 0))
  }

  /// Writes the database anew, as its documentation says, and brings the log into it.
  func compact() throws -> Bool {
    try check(sqlite3_exec(database, "VACUUM; PRAGMA wal_checkpoint(TRUNCATE)", nil, nil, nil))
    return true
  }

  func makeHandle() throws -> any TripStore {
    try SQLiteTrips(folder, durability, cacheMebibytes: cacheMebibytes)
  }

  func close() throws {
    for statement in statements { sqlite3_finalize(statement) }
    statements = []
    try check(sqlite3_close(database))
    database = nil
  }

  private func inTransaction(_ changes: Int, _ body: () throws -> Void) throws {
    // A single statement is a transaction by itself.
    guard changes > 1 else { return try body() }
    try run(statements[Statement.begin.rawValue])
    try body()
    try run(statements[Statement.commit.rawValue])
  }

  private func run(_ statement: OpaquePointer?) throws {
    let code = sqlite3_step(statement)
    sqlite3_reset(statement)
    if code != SQLITE_DONE { try check(code) }
  }

  /// Binds a text; SQLite copies it.
  private func bind(_ text: String, _ statement: OpaquePointer?, _ index: CInt) {
    // Not in the headers Swift sees: SQLITE_TRANSIENT.
    let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    sqlite3_bind_text(statement, index, text, -1, transient)
  }

  private func text(_ statement: OpaquePointer?, _ column: CInt) -> String {
    let bytes = UnsafeRawBufferPointer(
      start: sqlite3_column_text(statement, column),
      count: Int(sqlite3_column_bytes(statement, column))
    )
    return String(decoding: bytes, as: UTF8.self)
  }

  private func check(_ code: CInt) throws {
    if code != SQLITE_OK { throw PeerError(.sqlite, String(cString: sqlite3_errstr(code))) }
  }
}
#endif

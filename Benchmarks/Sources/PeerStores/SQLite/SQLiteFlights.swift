#if SQLITE
import CSQLite
public import Foundation
import Harness
public import Workloads

/// Flights in SQLite's C API: one table, prepared statements kept, a write-ahead log.
public final class SQLiteFlights: FlightStore {
  public static var settings: String { SQLiteTrips.settings(.relaxed) }

  /// The table, for other programs that open the file after us.
  public static let table = """
    CREATE TABLE IF NOT EXISTS flight (
      id INTEGER PRIMARY KEY, carrier TEXT NOT NULL, number INTEGER NOT NULL, origin TEXT NOT NULL,
      destination TEXT NOT NULL, tailNumber TEXT, scheduled REAL NOT NULL, departureDelay INTEGER,
      arrivalDelay INTEGER, distance INTEGER NOT NULL
    )
    """

  private var database: OpaquePointer?
  private var insert: OpaquePointer?
  private var late: OpaquePointer?
  private var tally: OpaquePointer?

  /// Makes a database.
  ///
  /// - Parameter folder: The folder; a new one.
  /// - Throws: ``PeerError``.
  public init(_ folder: URL) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    try check(sqlite3_open_v2(folder.path + "/flights.sqlite", &database, flags, nil))
    try execute("PRAGMA journal_mode = WAL")
    try execute("PRAGMA cache_size = -262144; PRAGMA synchronous = NORMAL; \(Self.table)")
    insert = try prepare("INSERT INTO flight VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
    late = try prepare("SELECT count(*) FROM flight WHERE origin = ? AND departureDelay > ?")
    tally = try prepare(
      """
      SELECT carrier, sum(arrivalDelay), count(*) FROM flight WHERE arrivalDelay IS NOT NULL
      GROUP BY carrier
      """
    )
  }

  public func save(_ flights: ArraySlice<FlightRecord>) throws {
    try execute("BEGIN IMMEDIATE")
    for flight in flights {
      bind(flight.carrier, insert, 1)
      sqlite3_bind_int64(insert, 2, flight.number)
      bind(flight.origin, insert, 3)
      bind(flight.destination, insert, 4)
      bind(flight.tailNumber, insert, 5)
      sqlite3_bind_double(insert, 6, flight.scheduled)
      bind(flight.departureDelay, insert, 7)
      bind(flight.arrivalDelay, insert, 8)
      sqlite3_bind_int64(insert, 9, flight.distance)
      let code = sqlite3_step(insert)
      sqlite3_reset(insert)
      if code != SQLITE_DONE { try check(code) }
    }
    try execute("COMMIT")
  }

  public func countLate(origin: String, minutes: Int64) throws -> Int {
    bind(origin, late, 1)
    sqlite3_bind_int64(late, 2, minutes)
    defer { sqlite3_reset(late) }
    guard sqlite3_step(late) == SQLITE_ROW else { throw PeerError(.sqlite, "no count") }
    return Int(sqlite3_column_int64(late, 0))
  }

  public func delays() throws -> DelayTally {
    defer { sqlite3_reset(tally) }
    var delays = DelayTally()
    while sqlite3_step(tally) == SQLITE_ROW {
      let minutes = sqlite3_column_int64(tally, 1)
      let carrier = sqlite3_column_text(tally, 0).map { String(cString: $0) } ?? ""
      delays.add(carrier, minutes: minutes, flights: sqlite3_column_int64(tally, 2))
    }
    return delays
  }

  public func close() throws {
    for statement in [insert, late, tally] { sqlite3_finalize(statement) }
    try check(sqlite3_close(database))
    database = nil
  }

  private func prepare(_ sql: String) throws -> OpaquePointer? {
    var statement: OpaquePointer?
    try check(sqlite3_prepare_v2(database, sql, -1, &statement, nil))
    return statement
  }

  private func execute(_ sql: String) throws {
    try check(sqlite3_exec(database, sql, nil, nil, nil))
  }

  /// Binds a text; SQLite copies it.
  private func bind(_ text: String?, _ statement: OpaquePointer?, _ index: CInt) {
    // Not in the headers Swift sees: SQLITE_TRANSIENT.
    let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    guard let text else { return _ = sqlite3_bind_null(statement, index) }
    sqlite3_bind_text(statement, index, text, -1, transient)
  }

  private func bind(_ number: Int64?, _ statement: OpaquePointer?, _ index: CInt) {
    guard let number else { return _ = sqlite3_bind_null(statement, index) }
    sqlite3_bind_int64(statement, index, number)
  }

  private func check(_ code: CInt) throws {
    if code != SQLITE_OK { throw PeerError(.sqlite, String(cString: sqlite3_errstr(code))) }
  }
}
#endif

#if SQLITE
import CSQLite
public import Foundation
import Harness
public import LogEngine
import RowFormat

/// The rows of any table of an engine in SQLite: a column for each of the table's.
public final class SQLiteRows {
  public static var settings: String { SQLiteTrips.settings(.relaxed) }

  private let definition: LayoutDefinition
  private var database: OpaquePointer?
  private var insert: OpaquePointer?

  /// Makes a database.
  ///
  /// - Parameters:
  ///   - folder: The folder; a new one.
  ///   - table: The table.
  ///   - layout: The layout of the rows it will be given.
  /// - Throws: ``PeerError``.
  public init(_ folder: URL, _ table: TableDefinition, _ layout: LayoutDefinition) throws {
    definition = layout
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    try check(sqlite3_open_v2(folder.path + "/rows.sqlite", &database, flags, nil))
    let columns = layout.columns.compactMap { table.column($0) }
    let declared = columns.map { "\($0.name) \(Self.affinity($0.type))" }
    try execute("PRAGMA journal_mode = WAL; PRAGMA cache_size = -262144")
    try execute("CREATE TABLE row (id INTEGER PRIMARY KEY, \(declared.joined(separator: ", ")))")
    let places = columns.map { _ in ", ?" }.joined()
    let sql = "INSERT INTO row VALUES (?\(places))"
    try check(sqlite3_prepare_v2(database, sql, -1, &insert, nil))
  }

  /// Does work in one transaction.
  public func inTransaction(_ body: () throws -> Void) throws {
    try execute("BEGIN IMMEDIATE")
    try body()
    try execute("COMMIT")
  }

  /// Adds a row.
  public func insert(_ row: RawSpan, key: UInt64) throws {
    let layout = definition.layout
    sqlite3_bind_int64(insert, 1, Int64(key))
    for column in layout.types.indices {
      let place = CInt(column + 2)
      guard !layout.isNull(column, in: row) else {
        sqlite3_bind_null(insert, place)
        continue
      }
      switch layout.types[column] {
      case .integer: sqlite3_bind_int64(insert, place, layout.integer(column, in: row))
      case .double, .date: sqlite3_bind_double(insert, place, layout.double(column, in: row))
      case .bool: sqlite3_bind_int(insert, place, layout.bool(column, in: row) ? 1 : 0)
      case .text:
        // Not in the headers Swift sees: SQLITE_TRANSIENT.
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        sqlite3_bind_text(insert, place, layout.text(column, in: row), -1, transient)
      default: throw PeerError(.sqlite, "no benchmark has a column of \(layout.types[column])")
      }
    }
    let code = sqlite3_step(insert)
    sqlite3_reset(insert)
    if code != SQLITE_DONE { try check(code) }
  }

  /// Writes the database anew, brings the log into it, and closes.
  public func compactAndClose() throws {
    try execute("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
    sqlite3_finalize(insert)
    try check(sqlite3_close(database))
    database = nil
  }

  private static func affinity(_ type: ColumnType) -> String {
    switch type {
    case .integer, .bool: "INTEGER"
    case .double, .date: "REAL"
    default: "TEXT"
    }
  }

  private func execute(_ sql: String) throws {
    try check(sqlite3_exec(database, sql, nil, nil, nil))
  }

  private func check(_ code: CInt) throws {
    if code != SQLITE_OK { throw PeerError(.sqlite, String(cString: sqlite3_errstr(code))) }
  }
}
#endif

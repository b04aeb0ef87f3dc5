#if SQLITE
import CSQLite
public import Foundation
import Harness

/// A database in SQLite's C API, set up as for all benchmarks: a write-ahead log, a large cache, statements
/// that are prepared once.
public final class SQLiteDatabase {
  public static var settings: String {
    """
    SQLite \(String(cString: sqlite3_libversion())), WAL, synchronous NORMAL, cache_size 256 MiB, mmap_size 1 GiB, \
    locking_mode EXCLUSIVE, prepared statements
    """
  }

  private var connection: OpaquePointer?
  private var statements: [String: SQLiteStatement] = [:]

  /// Opens a database, or makes it.
  ///
  /// - Parameters:
  ///   - file: Its file.
  ///   - schema: The statements that make its tables and indexes if they are missing.
  /// - Throws: ``SQLiteError``.
  public init(_ file: URL, schema: String) throws {
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    try check(sqlite3_open_v2(file.path, &connection, flags, nil))
    // A LogStore belongs to one process, too.
    try execute(
      """
      PRAGMA locking_mode = EXCLUSIVE;
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = NORMAL;
      PRAGMA cache_size = -262144;
      PRAGMA mmap_size = 1073741824;
      PRAGMA foreign_keys = ON;
      """
    )
    try execute(schema)
  }

  deinit {
    statements = [:]
    sqlite3_close(connection)
  }

  /// Runs statements that return nothing.
  ///
  /// - Parameter sql: The statements.
  /// - Throws: ``SQLiteError``.
  public func execute(_ sql: String) throws {
    try check(sqlite3_exec(connection, sql, nil, nil, nil))
  }

  /// Does work in one transaction.
  ///
  /// - Parameter body: The work.
  /// - Throws: What the work throws; then nothing of it stays.
  public func inTransaction(_ body: () throws -> Void) throws {
    try execute("BEGIN IMMEDIATE")
    do { try body() } catch {
      try? execute("ROLLBACK")
      throw error
    }
    try execute("COMMIT")
  }

  /// The prepared statement of a text; prepared when it is first asked for.
  ///
  /// - Parameter sql: One statement.
  /// - Returns: The statement, ready to be bound.
  /// - Throws: ``SQLiteError``.
  public func statement(_ sql: String) throws -> SQLiteStatement {
    if let statement = statements[sql] { return statement }
    var prepared: OpaquePointer?
    try check(sqlite3_prepare_v2(connection, sql, -1, &prepared, nil))
    let statement = SQLiteStatement(prepared)
    statements[sql] = statement
    return statement
  }
}

/// A prepared statement.
public final class SQLiteStatement {
  private let handle: OpaquePointer?

  init(_ handle: OpaquePointer?) { self.handle = handle }

  deinit { sqlite3_finalize(handle) }

  /// Binds a value; the first place is 1.
  public func bind(_ value: Int, at place: CInt) { sqlite3_bind_int64(handle, place, Int64(value)) }

  /// Binds a value; the first place is 1.
  public func bind(_ value: Double, at place: CInt) { sqlite3_bind_double(handle, place, value) }

  /// Binds nothing; the first place is 1.
  public func bindNull(at place: CInt) { sqlite3_bind_null(handle, place) }

  /// Binds a text, which SQLite copies; the first place is 1.
  public func bind(_ value: String, at place: CInt) {
    var value = value
    value.withUTF8 { bytes in
      // Not in the headers Swift sees: SQLITE_TRANSIENT.
      let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
      bytes.withMemoryRebound(to: CChar.self) {
        _ = sqlite3_bind_text(handle, place, $0.baseAddress, CInt($0.count), transient)
      }
    }
  }

  /// Runs the statement to its end, and resets it.
  ///
  /// - Parameter body: Called with each row; the first column is 0.
  /// - Throws: ``SQLiteError``, or what the body throws.
  public func run(_ body: (SQLiteStatement) throws -> Void = { _ in }) throws {
    defer { sqlite3_reset(handle) }
    while true {
      switch sqlite3_step(handle) {
      case SQLITE_ROW: try body(self)
      case SQLITE_DONE: return
      case let code: try check(code)
      }
    }
  }

  public func isNull(_ column: CInt) -> Bool {
    sqlite3_column_type(handle, column) == SQLITE_NULL
  }

  public func integer(_ column: CInt) -> Int { Int(sqlite3_column_int64(handle, column)) }

  public func double(_ column: CInt) -> Double { sqlite3_column_double(handle, column) }

  public func text(_ column: CInt) -> String {
    let bytes = UnsafeRawBufferPointer(
      start: sqlite3_column_text(handle, column),
      count: Int(sqlite3_column_bytes(handle, column))
    )
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// SQLite refused.
public struct SQLiteError: Error, CustomStringConvertible {
  public let description: String
}

private func check(_ code: CInt) throws {
  if code != SQLITE_OK { throw SQLiteError(description: String(cString: sqlite3_errstr(code))) }
}
#endif

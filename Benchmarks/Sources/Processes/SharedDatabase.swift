#if SQLITE
import CSQLite
import Foundation
import Harness

/// A SQLite database that several processes write: a write-ahead log, and a minute to wait for the others.
final class SharedDatabase {
  private var connection: OpaquePointer?
  private var insertion: OpaquePointer?
  private var begin: OpaquePointer?
  private var commit: OpaquePointer?

  struct Failure: Error { let message: String }

  init(_ file: URL, _ durability: Harness.Durability) throws {
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    try check(sqlite3_open_v2(file.path, &connection, flags, nil))
    sqlite3_busy_timeout(connection, 60_000)
    try execute("PRAGMA journal_mode = WAL")
    try execute("PRAGMA synchronous = \(durability == .full ? "FULL" : "NORMAL")")
    try execute(
      "CREATE TABLE IF NOT EXISTS sample (id INTEGER PRIMARY KEY, time INTEGER, text TEXT)"
    )
    insertion = try prepare("INSERT INTO sample (time, text) VALUES (?, ?)")
    begin = try prepare("BEGIN IMMEDIATE")
    commit = try prepare("COMMIT")
  }

  deinit {
    for statement in [insertion, begin, commit] { sqlite3_finalize(statement) }
    sqlite3_close(connection)
  }

  func insert(_ time: Int, _ text: String) throws {
    try step(begin)
    sqlite3_bind_int64(insertion, 1, Int64(time))
    sqlite3_bind_text(insertion, 2, text, -1, unsafeBitCast(-1, to: sqlite3_destructor_type.self))
    try step(insertion)
    try step(commit)
  }

  private func step(_ statement: OpaquePointer?) throws {
    let status = sqlite3_step(statement)
    sqlite3_reset(statement)
    guard status == SQLITE_DONE else { throw failure() }
  }

  private func prepare(_ sql: String) throws -> OpaquePointer? {
    var statement: OpaquePointer?
    try check(sqlite3_prepare_v2(connection, sql, -1, &statement, nil))
    return statement
  }

  private func execute(_ sql: String) throws {
    try check(sqlite3_exec(connection, sql, nil, nil, nil))
  }

  private func check(_ status: CInt) throws {
    guard status == SQLITE_OK else { throw failure() }
  }

  private func failure() -> Failure {
    Failure(message: String(cString: sqlite3_errmsg(connection)))
  }
}
#endif

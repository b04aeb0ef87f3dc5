#if SQLITE
import CSQLite

// A program that reads one row by SQLite's C API; makes the database where there is none.
var connection: OpaquePointer?
var statement: OpaquePointer?
let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
let file = CommandLine.arguments[1]
let setUp = """
  PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
  CREATE TABLE IF NOT EXISTS visit (id INTEGER PRIMARY KEY, place TEXT NOT NULL, rating INTEGER NOT NULL);
  INSERT INTO visit SELECT 1, 'Oslo', 7 WHERE NOT EXISTS (SELECT * FROM visit);
  """
let select = "SELECT rating FROM visit WHERE id = 1"
let found =
  sqlite3_open_v2(file, &connection, flags, nil) == SQLITE_OK
  && sqlite3_exec(connection, setUp, nil, nil, nil) == SQLITE_OK
  && sqlite3_prepare_v2(connection, select, -1, &statement, nil) == SQLITE_OK
  && sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_int64(statement, 0) == 7
print(found ? "row" : "nothing")
sqlite3_finalize(statement)
sqlite3_close(connection)
#else
print("nothing")
#endif

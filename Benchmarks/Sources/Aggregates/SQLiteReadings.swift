#if SQLITE
import Foundation
import Harness
import SQLitePeer

/// Readings in SQLite, without an index.
final class SQLiteReadings: ReadingStore {
  private let database: SQLiteDatabase

  init(_ file: URL, _ count: Int) throws {
    database = try SQLiteDatabase(
      file,
      schema: """
        CREATE TABLE reading (
          id INTEGER PRIMARY KEY, sensor TEXT NOT NULL, value REAL NOT NULL, number INTEGER NOT NULL,
          note INTEGER NOT NULL
        );
        """
    )
    try database.inTransaction {
      let insertion = try database.statement("INSERT INTO reading VALUES (NULL, ?, ?, ?, 0)")
      for (sensor, value, number, _) in Readings(count: count) {
        insertion.bind(sensor, at: 1)
        insertion.bind(value, at: 2)
        insertion.bind(number, at: 3)
        try insertion.run()
      }
    }
  }

  private func rows(_ sql: String, _ line: (SQLiteStatement) -> String) throws -> [String] {
    var lines: [String] = []
    try database.statement(sql).run { lines.append(line($0)) }
    return lines
  }

  func groups() throws -> [String] {
    try rows("SELECT sensor, count(*), sum(number) FROM reading GROUP BY sensor") {
      "\($0.text(0)) \($0.integer(1)) \($0.integer(2))"
    }.sorted()
  }

  func sum() throws -> [String] {
    try rows("SELECT sum(value) FROM reading") { rounded($0.double(0)) }
  }

  func greatest() throws -> [String] {
    try rows("SELECT sensor, value FROM reading ORDER BY value DESC LIMIT 10") {
      "\($0.text(0)) \(rounded($0.double(1)))"
    }
  }

  /// SQLite has no percentiles: the values in order, of which two are looked up and interpolated.
  func percentiles() throws -> [String] {
    var values: [Double] = []
    try database.statement("SELECT value FROM reading ORDER BY value").run {
      values.append($0.double(0))
    }
    return [0.5, 0.99].map { share in
      let place = share * Double(values.count - 1)
      let lower = values[Int(place)]
      let upper = values[min(Int(place) + 1, values.count - 1)]
      return rounded(lower + (upper - lower) * (place - place.rounded(.down)))
    }
  }
}
#endif

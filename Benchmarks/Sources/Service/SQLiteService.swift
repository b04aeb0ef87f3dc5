#if SQLITE
import Foundation
import Harness
import SQLitePeer

/// Readings in SQLite, with the indexes the models declare.
final class SQLiteService: ServiceStore {
  let contender = Contender.sqlite
  let settings = SQLiteDatabase.settings + "; indexes on at, on serial and at, on state"
  private let database: SQLiteDatabase

  init(_ file: URL) throws {
    database = try SQLiteDatabase(
      file,
      schema: """
        CREATE TABLE IF NOT EXISTS reading (
          id INTEGER PRIMARY KEY, serial TEXT NOT NULL, metric TEXT NOT NULL, state TEXT NOT NULL,
          value REAL NOT NULL, at REAL NOT NULL, message TEXT NOT NULL
        );
        CREATE INDEX IF NOT EXISTS readingAt ON reading (at);
        CREATE INDEX IF NOT EXISTS readingSerialAt ON reading (serial, at);
        CREATE INDEX IF NOT EXISTS readingState ON reading (state);
        CREATE TABLE IF NOT EXISTS device (
          id INTEGER PRIMARY KEY, serial TEXT NOT NULL UNIQUE, seen INTEGER NOT NULL
        );
        """
    )
  }

  /// Inserts readings, 10,000 in a transaction.
  func fill(_ count: Int) throws {
    let insert = try database.statement(
      "INSERT INTO reading (serial, metric, state, value, at, message) VALUES (?, ?, ?, ?, ?, ?)"
    )
    for start in stride(from: 0, to: count, by: 10_000) {
      try database.inTransaction {
        for number in start..<min(start + 10_000, count) {
          let record = ReadingRecord(number: number)
          insert.bind(record.serial, at: 1)
          insert.bind(record.metric, at: 2)
          insert.bind(record.state, at: 3)
          insert.bind(record.value, at: 4)
          insert.bind(record.at, at: 5)
          insert.bind(record.message, at: 6)
          try insert.run()
        }
      }
    }
  }

  func nextPage(from: Double, limit: Int) throws -> Int {
    let page = try database.statement(
      "SELECT * FROM reading WHERE at >= ? ORDER BY at LIMIT ?"
    )
    page.bind(from, at: 1)
    page.bind(limit, at: 2)
    return try sum(page)
  }

  func previousPage(before: Double, limit: Int) throws -> Int {
    let page = try database.statement(
      "SELECT * FROM reading WHERE at < ? ORDER BY at DESC LIMIT ?"
    )
    page.bind(before, at: 1)
    page.bind(limit, at: 2)
    return try sum(page)
  }

  func newest(of serial: String, before: Double, limit: Int) throws -> Int {
    let page = try database.statement(
      "SELECT * FROM reading WHERE serial = ? AND at < ? ORDER BY at DESC LIMIT ?"
    )
    page.bind(serial, at: 1)
    page.bind(before, at: 2)
    page.bind(limit, at: 3)
    return try sum(page)
  }

  func count(of serial: String, from: Double, to: Double) throws -> Int {
    let count = try database.statement(
      "SELECT count(*) FROM reading WHERE serial = ? AND at >= ? AND at < ?"
    )
    count.bind(serial, at: 1)
    count.bind(from, at: 2)
    count.bind(to, at: 3)
    var found = 0
    try count.run { found = $0.integer(0) }
    return found
  }

  func page(offset: Int, limit: Int) throws -> Int {
    let page = try database.statement("SELECT * FROM reading ORDER BY at LIMIT ? OFFSET ?")
    page.bind(limit, at: 1)
    page.bind(offset, at: 2)
    return try sum(page)
  }

  func unsortedPage(offset: Int, limit: Int) throws -> Int {
    let page = try database.statement("SELECT * FROM reading ORDER BY id LIMIT ? OFFSET ?")
    page.bind(limit, at: 1)
    page.bind(offset, at: 2)
    return try sum(page)
  }

  func readings(at: Double, or serial: String, at other: Double) throws -> Int {
    let readings = try database.statement(
      "SELECT * FROM reading WHERE at = ? OR (serial = ? AND at = ?) LIMIT 100"
    )
    readings.bind(at, at: 1)
    readings.bind(serial, at: 2)
    readings.bind(other, at: 3)
    return try sum(readings)
  }

  func values(of serial: String, from: Double, to: Double) throws -> Int {
    let values = try database.statement(
      "SELECT at, value FROM reading WHERE serial = ? AND at >= ? AND at < ?"
    )
    values.bind(serial, at: 1)
    values.bind(from, at: 2)
    values.bind(to, at: 3)
    var sum = 0
    try values.run { sum += ReadingRecord.valueSum($0.double(0), $0.double(1)) }
    return sum
  }

  func some(inState state: String, limit: Int) throws -> Int {
    let some = try database.statement("SELECT * FROM reading WHERE state = ? LIMIT ?")
    some.bind(state, at: 1)
    some.bind(limit, at: 2)
    var found = 0
    try some.run { _ in found += 1 }
    return found
  }

  func findOrCreate(_ serials: [String]) throws -> Int {
    let find = try database.statement("SELECT id FROM device WHERE serial = ?")
    let see = try database.statement("UPDATE device SET seen = seen + 1 WHERE id = ?")
    let create = try database.statement("INSERT INTO device (serial, seen) VALUES (?, 0)")
    var created = 0
    try database.inTransaction {
      for serial in serials {
        find.bind(serial, at: 1)
        var known: Int?
        try find.run { known = $0.integer(0) }
        if let known {
          see.bind(known, at: 1)
          try see.run()
        } else {
          create.bind(serial, at: 1)
          try create.run()
          created += 1
        }
      }
    }
    return created
  }

  private func sum(_ page: SQLiteStatement) throws -> Int {
    var sum = 0
    try page.run { row in
      sum += ReadingRecord.checksum(row.double(5), row.text(2), row.double(4), row.text(6))
    }
    return sum
  }
}
#endif

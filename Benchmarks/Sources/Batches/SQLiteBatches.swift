#if SQLITE
import Foundation
import SQLitePeer

/// Batches in SQLite: a prepared statement for each row that comes, one statement for rows that are there.
final class SQLiteBatches: BatchStore {
  private let database: SQLiteDatabase

  init(_ file: URL) throws {
    database = try SQLiteDatabase(
      file,
      schema: """
        CREATE TABLE parcel (
          id INTEGER PRIMARY KEY, route TEXT NOT NULL, weight INTEGER NOT NULL, price REAL NOT NULL, sent REAL NOT NULL,
          batch INTEGER NOT NULL
        );
        CREATE TABLE account (
          id INTEGER PRIMARY KEY, address TEXT NOT NULL UNIQUE, name TEXT NOT NULL, visits INTEGER NOT NULL
        );
        """
    )
  }

  func insert(_ parcels: Parcels) throws {
    try database.inTransaction {
      let insertion = try database.statement("INSERT INTO parcel VALUES (NULL, ?, ?, ?, ?, ?)")
      for (route, weight, price, sent, batch) in parcels {
        insertion.bind(route, at: 1)
        insertion.bind(weight, at: 2)
        insertion.bind(price, at: 3)
        insertion.bind(sent.timeIntervalSinceReferenceDate, at: 4)
        insertion.bind(batch, at: 5)
        try insertion.run()
      }
    }
  }

  func update() throws -> Int {
    try database.inTransaction {
      try database.statement(
        "UPDATE parcel SET weight = weight + 1 WHERE batch = 0 AND route < 'route 2'"
      ).run()
    }
    return try changes()
  }

  func upsert(_ accounts: [(String, String, Int)]) throws {
    try database.inTransaction {
      let upsert = try database.statement(
        """
        INSERT INTO account VALUES (NULL, ?, ?, ?)
        ON CONFLICT (address) DO UPDATE SET name = excluded.name, visits = excluded.visits
        """
      )
      for (address, name, visits) in accounts {
        upsert.bind(address, at: 1)
        upsert.bind(name, at: 2)
        upsert.bind(visits, at: 3)
        try upsert.run()
      }
    }
  }

  func delete(batch: Int) throws -> Int {
    try database.inTransaction {
      let deletion = try database.statement("DELETE FROM parcel WHERE batch = ?")
      deletion.bind(batch, at: 1)
      try deletion.run()
    }
    return try changes()
  }

  private func changes() throws -> Int { try integers("SELECT changes()", 1)[0] }

  func check() throws -> [Int] {
    try integers("SELECT count(*), sum(weight), (SELECT count(*) FROM account) FROM parcel", 3)
  }

  private func integers(_ sql: String, _ count: Int) throws -> [Int] {
    var found: [Int] = []
    try database.statement(sql).run { row in
      found = (0..<count).map { row.integer(CInt($0)) }
    }
    return found
  }
}
#endif

#if SQLITE
import Foundation
import Harness
import SQLitePeer

/// Cities and visits in SQLite, with foreign keys and an index on each.
final class SQLiteRelations: RelationStore {
  let contender = Contender.sqlite
  let settings =
    SQLiteDatabase.settings + "; foreign keys with indexes, an index on the city's name"
  private let database: SQLiteDatabase
  private var city = 0
  private var journal = 0

  init(_ file: URL) throws {
    database = try SQLiteDatabase(
      file,
      schema: """
        CREATE TABLE IF NOT EXISTS city (
          id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT NOT NULL
        );
        CREATE INDEX IF NOT EXISTS cityName ON city (name);
        CREATE TABLE IF NOT EXISTS visit (
          id INTEGER PRIMARY KEY, rating INTEGER NOT NULL, note TEXT NOT NULL,
          city INTEGER REFERENCES city (id) ON DELETE SET NULL
        );
        CREATE INDEX IF NOT EXISTS visitCity ON visit (city);
        CREATE TABLE IF NOT EXISTS journal (id INTEGER PRIMARY KEY, title TEXT NOT NULL);
        CREATE TABLE IF NOT EXISTS entry (
          id INTEGER PRIMARY KEY, number INTEGER NOT NULL,
          journal INTEGER REFERENCES journal (id) ON DELETE CASCADE
        );
        CREATE INDEX IF NOT EXISTS entryJournal ON entry (journal);
        """
    )
  }

  func fill(cities: Int, visits: Int) throws {
    try database.inTransaction {
      for number in 0..<cities { try insertCity(number + 1, number) }
    }
    for start in stride(from: 0, to: visits, by: 10_000) {
      try database.inTransaction {
        for number in start..<min(start + 10_000, visits) {
          try insertVisit(number, city: number % cities + 1)
        }
      }
    }
  }

  func countVisits(ofCityNamed name: String) throws -> Int {
    let count = try database.statement(
      "SELECT count(*) FROM visit JOIN city ON visit.city = city.id WHERE city.name = ?"
    )
    count.bind(name, at: 1)
    return try number(count)
  }

  func countCities(ratedAt rating: Int) throws -> Int {
    let count = try database.statement(
      "SELECT count(*) FROM city WHERE id IN (SELECT city FROM visit WHERE rating = ?)"
    )
    count.bind(rating, at: 1)
    return try number(count)
  }

  /// An object made of a join's rows.
  private final class CityObject {
    let id: Int, name: String, country: String

    init(_ id: Int, _ name: String, _ country: String) {
      self.id = id
      self.name = name
      self.country = country
    }
  }

  private final class VisitObject {
    let id: Int, rating: Int, note: String, city: CityObject?

    init(_ id: Int, _ rating: Int, _ note: String, _ city: CityObject?) {
      self.id = id
      self.rating = rating
      self.note = note
      self.city = city
    }
  }

  func traverse(_ count: Int) throws -> Int {
    let join = try database.statement(
      """
      SELECT visit.id, visit.rating, visit.note, city.id, city.name, city.country
      FROM visit LEFT JOIN city ON visit.city = city.id ORDER BY visit.id LIMIT ?
      """
    )
    join.bind(count, at: 1)
    var cities: [Int: CityObject] = [:]
    var visits: [VisitObject] = []
    try join.run { row in
      let id = row.integer(3)
      let city = cities[id] ?? CityObject(id, row.text(4), row.text(5))
      cities[id] = city
      visits.append(VisitObject(row.integer(0), row.integer(1), row.text(2), city))
    }
    return visits.reduce(0) { $0 + ($1.city?.name.utf8.count ?? 0) }
  }

  func makeCrowdedCity(_ count: Int) throws {
    try database.inTransaction {
      city = try makeCity(-1)
      for number in 0..<count { try insertVisit(number, city: city) }
    }
  }

  func moveVisits() throws {
    let list = try database.statement("SELECT id FROM visit WHERE city = ?")
    let move = try database.statement("UPDATE visit SET city = ? WHERE id = ?")
    try database.inTransaction {
      let other = try makeCity(-2)
      var visits: [Int] = []
      list.bind(city, at: 1)
      try list.run { visits.append($0.integer(0)) }
      for visit in visits {
        move.bind(other, at: 1)
        move.bind(visit, at: 2)
        try move.run()
      }
      city = other
    }
  }

  func deleteCrowdedCity() throws {
    let delete = try database.statement("DELETE FROM city WHERE id = ?")
    delete.bind(city, at: 1)
    try delete.run()
  }

  func makeJournal(_ count: Int) throws {
    let insert = try database.statement("INSERT INTO entry (number, journal) VALUES (?, ?)")
    try database.inTransaction {
      try database.execute("INSERT INTO journal (title) VALUES ('first')")
      journal = try number(database.statement("SELECT max(id) FROM journal"))
      for number in 0..<count {
        insert.bind(number, at: 1)
        insert.bind(journal, at: 2)
        try insert.run()
      }
    }
  }

  func deleteJournal() throws {
    let delete = try database.statement("DELETE FROM journal WHERE id = ?")
    delete.bind(journal, at: 1)
    try delete.run()
    let left = try number(database.statement("SELECT count(*) FROM entry"))
    try WrongAnswer.check(left, is: 0, .sqlite)
  }

  func makeQuietCities(_ count: Int) throws {
    try database.inTransaction {
      for number in 0..<count { try insertVisit(number, city: makeCity(-3)) }
    }
  }

  func deleteQuietCities() throws {
    try database.execute("DELETE FROM city WHERE name = 'city -3'")
    let left = try number(database.statement("SELECT count(*) FROM city WHERE name = 'city -3'"))
    try WrongAnswer.check(left, is: 0, .sqlite)
  }

  func makeShortJournals(_ count: Int) throws {
    let insert = try database.statement("INSERT INTO entry (number, journal) VALUES (?, ?)")
    let parent = try database.statement("INSERT INTO journal (id, title) VALUES (?, 'short')")
    let last = try number(database.statement("SELECT coalesce(max(id), 0) FROM journal"))
    try database.inTransaction {
      for number in 0..<count {
        parent.bind(last + number + 1, at: 1)
        try parent.run()
        insert.bind(number, at: 1)
        insert.bind(last + number + 1, at: 2)
        try insert.run()
      }
    }
  }

  func deleteShortJournals() throws {
    try database.execute("DELETE FROM journal")
    let left = try number(database.statement("SELECT count(*) FROM entry"))
    try WrongAnswer.check(left, is: 0, .sqlite)
  }

  private func makeCity(_ number: Int) throws -> Int {
    let id = try self.number(database.statement("SELECT max(id) + 1 FROM city"))
    try insertCity(id, number)
    return id
  }

  private func insertCity(_ id: Int, _ number: Int) throws {
    let insert = try database.statement("INSERT INTO city (id, name, country) VALUES (?, ?, ?)")
    insert.bind(id, at: 1)
    insert.bind("city \(number)", at: 2)
    insert.bind("country \(number % 50)", at: 3)
    try insert.run()
  }

  private func insertVisit(_ number: Int, city: Int) throws {
    let insert = try database.statement("INSERT INTO visit (rating, note, city) VALUES (?, ?, ?)")
    insert.bind(number % 5, at: 1)
    insert.bind("visit \(number)", at: 2)
    insert.bind(city, at: 3)
    try insert.run()
  }

  private func number(_ statement: SQLiteStatement) throws -> Int {
    var found = 0
    try statement.run { found = $0.integer(0) }
    return found
  }
}
#endif

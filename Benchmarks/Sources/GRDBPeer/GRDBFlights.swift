#if GRDB
public import Foundation
import GRDB
public import Workloads

/// Flights as GRDB's Codable records.
public final class GRDBFlights: FlightStore {
  public static let settings = "\(GRDBStore.settings), synchronous NORMAL, Codable, GROUP BY in SQL"

  private let pool: DatabasePool

  private struct Flight: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "flight"

    var id: Int64?
    var carrier: String
    var number: Int64
    var origin: String
    var destination: String
    var tailNumber: String?
    var scheduled: Double
    var departureDelay: Int64?
    var arrivalDelay: Int64?
    var distance: Int64

    init(_ flight: FlightRecord) {
      id = nil
      carrier = flight.carrier
      number = flight.number
      origin = flight.origin
      destination = flight.destination
      tailNumber = flight.tailNumber
      scheduled = flight.scheduled
      departureDelay = flight.departureDelay
      arrivalDelay = flight.arrivalDelay
      distance = flight.distance
    }
  }

  /// Makes a database.
  ///
  /// - Parameter folder: The folder; a new one.
  /// - Throws: What GRDB throws.
  public init(_ folder: URL) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    var configuration = Configuration()
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cache_size = -262144") }
    pool = try DatabasePool(
      path: folder.appending(path: "flights.sqlite").path,
      configuration: configuration
    )
    try pool.write { database in
      try database.create(table: "flight") { table in
        table.autoIncrementedPrimaryKey("id")
        for name in ["carrier", "origin", "destination"] { table.column(name, .text).notNull() }
        table.column("tailNumber", .text)
        table.column("scheduled", .double).notNull()
        for name in ["number", "distance"] { table.column(name, .integer).notNull() }
        for name in ["departureDelay", "arrivalDelay"] { table.column(name, .integer) }
      }
    }
  }

  public func save(_ flights: ArraySlice<FlightRecord>) throws {
    try pool.write { database in
      for flight in flights { try Flight(flight).insert(database) }
    }
  }

  public func countLate(origin: String, minutes: Int64) throws -> Int {
    try pool.read { database in
      let isWanted = Column("origin") == origin && Column("departureDelay") > minutes
      return try Flight.filter(isWanted).fetchCount(database)
    }
  }

  public func delays() throws -> DelayTally {
    let sql = """
      SELECT carrier, sum(arrivalDelay), count(*) FROM flight WHERE arrivalDelay IS NOT NULL
      GROUP BY carrier
      """
    return try pool.read { database in
      var tally = DelayTally()
      for row in try Row.fetchAll(database, sql: sql) {
        tally.add(row[0], minutes: row[1], flights: row[2])
      }
      return tally
    }
  }

  public func close() throws {
    // Closing leaves the write-ahead log where readers had it open; its room would count.
    _ = try pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
    try pool.close()
  }
}
#endif

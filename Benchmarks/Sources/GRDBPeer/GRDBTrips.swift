#if GRDB
import Foundation
import GRDB
import Harness
import Workloads

/// Trips as GRDB's Codable records, each call as its documentation writes it.
final class GRDBTrips: TripStore {
  private let pool: DatabasePool
  private let isOwner: Bool

  init(_ folder: URL, _ durability: GRDBDurability) throws {
    isOwner = true
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    pool = try GRDBStore.open(folder.appending(path: "trips.sqlite"), durability)
  }

  private init(sharing pool: DatabasePool) {
    isOwner = false
    self.pool = pool
  }

  func insert(_ records: ArraySlice<TripRecord>, firstKey: UInt64) throws {
    try pool.write { database in
      for record in records { try CodableTrip(record).insert(database) }
    }
  }

  func read(_ key: UInt64) throws -> Int {
    try pool.read { try CodableTrip.find($0, key: Int64(key)).checksum }
  }

  func raiseRatings(_ keys: ArraySlice<UInt64>) throws {
    try pool.write { database in
      for key in keys {
        var trip = try CodableTrip.find(database, key: Int64(key))
        try trip.updateChanges(database) { $0.rating += 1 }
      }
    }
  }

  func count(destination: String, ratingAbove rating: Int64) throws -> Int {
    try pool.read { database in
      let isWanted = Column("destination") == destination && Column("rating") > rating
      return try CodableTrip.filter(isWanted).fetchCount(database)
    }
  }

  func readEarliest(_ count: Int) throws -> Int {
    try pool.read { try CodableTrip.order(Column("startDate")).limit(count).fetchAll($0) }
      .reduce(0) { $0 + $1.checksum }
  }

  func readFirst(_ count: Int) throws -> Int {
    try pool.read { try CodableTrip.order(Column("id")).limit(count).fetchAll($0) }
      .reduce(0) { $0 + $1.checksum }
  }

  func compact() throws -> Bool {
    try pool.vacuum()
    _ = try pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
    return true
  }

  /// The same pool: it is made for many threads.
  func makeHandle() throws -> any TripStore { GRDBTrips(sharing: pool) }

  func close() throws {
    guard isOwner else { return }
    // Closing leaves the write-ahead log where readers had it open; its room would count.
    _ = try pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
    try pool.close()
  }
}
#endif

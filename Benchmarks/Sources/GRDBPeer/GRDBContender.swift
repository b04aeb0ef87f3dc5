public import Foundation
public import Harness
public import Workloads

#if GRDB
import GRDB

/// GRDB's part in each workload: with Codable records, and with records written by hand.
public enum GRDBContender {
  /// The contenders that save trips, each in a database of its own.
  public static func savers(_ folder: URL, _ durability: GRDBDurability) throws -> [Saving] {
    let settings = "\(GRDBStore.settings), synchronous \(durability.rawValue)"
    let codable = try GRDBStore.open(folder.appending(path: "codable.sqlite"), durability)
    let byHand = try GRDBStore.open(folder.appending(path: "by-hand.sqlite"), durability)
    return [
      Saving(
        contender: .grdb,
        settings: "\(settings), Codable",
        saver: GRDBSaver(codable, CodableTrip.init)
      ),
      Saving(
        contender: .grdbByHand,
        settings: "\(settings), columns by hand",
        saver: GRDBSaver(byHand, HandWrittenTrip.init)
      ),
    ]
  }

  /// The contenders that fetch trips from one database that holds all records, and read every attribute or two.
  public static func fetchers(_ folder: URL, _ records: [TripRecord]) throws -> (
    all: [Fetching], two: [Fetching]
  ) {
    let pool = try GRDBStore.open(folder.appending(path: "trips.sqlite"), .normal)
    try GRDBSaver(pool, HandWrittenTrip.init).save(records[...])
    let query = "SELECT destination, rating FROM trip"
    let settings = GRDBStore.settings
    return (
      all: [
        Fetching(contender: .grdb, settings: "\(settings), Codable, fetchAll") {
          try pool.read { try CodableTrip.fetchAll($0) }.reduce(0) { $0 + $1.checksum }
        },
        Fetching(contender: .grdbByHand, settings: "\(settings), columns by hand, fetchAll") {
          try pool.read { try HandWrittenTrip.fetchAll($0) }.reduce(0) { $0 + $1.checksum }
        },
      ],
      two: [
        Fetching(contender: .grdb, settings: "\(settings), Codable, two columns selected") {
          try pool.read { try CodablePair.fetchAll($0, sql: query) }
            .reduce(0) { $0 + $1.destination.utf8.count + Int($1.rating) }
        },
        Fetching(contender: .grdbByHand, settings: "\(settings), by hand, two columns selected") {
          try pool.read { try HandWrittenPair.fetchAll($0, sql: query) }
            .reduce(0) { $0 + $1.destination.utf8.count + Int($1.rating) }
        },
      ]
    )
  }

  /// The settings with which ``openStore(_:_:)`` opens GRDB, in words.
  public static func settings(_ durability: Durability) -> String {
    "\(GRDBStore.settings), synchronous \(GRDBDurability(durability).rawValue), Codable"
  }

  /// Opens a store of Codable records, or makes it; only where GRDB takes part.
  public static func openStore(_ folder: URL, _ durability: Durability) throws -> any TripStore {
    try GRDBTrips(folder, GRDBDurability(durability))
  }

  /// Whether GRDB takes part.
  public static let isInstalled = true

  /// The contenders that open a database that holds all records and read one of them.
  public static func openings(_ folder: URL, _ records: [TripRecord]) throws -> [Fetching] {
    let file = folder.appending(path: "opened.sqlite")
    let filled = try GRDBStore.open(file, .normal)
    try GRDBSaver(filled, HandWrittenTrip.init).save(records[...])
    try filled.close()
    let settings = "\(GRDBStore.settings), Codable, \(records.count) records, one fetched"
    return [
      Fetching(contender: .grdb, settings: settings) {
        let pool = try GRDBStore.open(file, .normal)
        let checksum = try pool.read { try CodableTrip.fetchOne($0)?.checksum ?? 0 }
        try pool.close()
        return checksum
      }
    ]
  }
}
#else
/// GRDB takes no part: SQLite's header is not installed.
public enum GRDBContender {
  public static func savers(_ folder: URL, _ durability: GRDBDurability) throws -> [Saving] { [] }

  public static func fetchers(_ folder: URL, _ records: [TripRecord]) throws -> (
    all: [Fetching], two: [Fetching]
  ) {
    ([], [])
  }

  public static func openings(_ folder: URL, _ records: [TripRecord]) throws -> [Fetching] { [] }

  public static func settings(_ durability: Durability) -> String { "" }

  public static func openStore(_ folder: URL, _ durability: Durability) throws -> any TripStore {
    preconditionFailure("GRDB is not installed")
  }

  public static let isInstalled = false
}
#endif

/// The setting that SQLite calls `synchronous`.
public enum GRDBDurability: String, Sendable {
  /// On disk when the transaction ends.
  case full = "FULL"
  /// In the kernel's hands when the transaction ends.
  case normal = "NORMAL"

  init(_ durability: Durability) { self = durability == .full ? .full : .normal }
}

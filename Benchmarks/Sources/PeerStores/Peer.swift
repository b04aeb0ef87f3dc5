import EngineStore
public import Foundation
public import Harness
import LogEngine
public import Workloads

/// A store that takes part, and how to open it.
public struct Peer {
  public let contender: Contender
  public let settings: (Durability) -> String
  public let open: (URL, Durability) throws -> any TripStore

  /// All whose libraries are installed.
  public static var installed: [Peer] {
    var peers = [Peer(.engine, engineSettings, open: openEngine)]
    #if SQLITE
    peers.append(Peer(.sqlite, SQLiteTrips.settings) { try SQLiteTrips($0, $1) })
    #endif
    #if LMDB
    peers.append(Peer(.lmdb, LMDBTrips.settings) { try LMDBTrips($0, $1) })
    #endif
    #if LEVELDB
    peers.append(Peer(.leveldb, LevelDBTrips.settings) { try LevelDBTrips($0, $1) })
    #endif
    #if ROCKSDB
    peers.append(Peer(.rocksdb, RocksDBTrips.settings) { try RocksDBTrips($0, $1) })
    #endif
    return peers
  }

  /// SQLite with an index on each column queries ask for, if it is installed.
  public static var indexed: [Peer] {
    #if SQLITE
    return [
      Peer(.sqlite, { SQLiteTrips.settings($0) + ", indexes on destination and startDate" }) {
        let trips = try SQLiteTrips($0, $1)
        try trips.makeIndexes()
        return trips
      }
    ]
    #else
    return []
    #endif
  }

  private static func engineSettings(_ durability: Durability) -> String {
    "StorageEngine, defaults but durability \(durability == .full ? ".full" : ".relaxed(1 s)")"
  }

  private static func openEngine(
    _ folder: URL,
    _ durability: Durability
  ) throws -> any TripStore {
    try EngineTrips(at: folder.path, durability == .full ? .full : .relaxed(interval: .seconds(1)))
  }

  init(
    _ contender: Contender,
    _ settings: @escaping (Durability) -> String,
    open: @escaping (URL, Durability) throws -> any TripStore
  ) {
    self.contender = contender
    self.settings = settings
    self.open = open
  }
}

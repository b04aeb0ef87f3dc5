import EngineStore
public import Foundation
public import Harness
import LogEngine
public import Workloads

/// A store that takes part, and how to open it.
public struct Peer: Sendable {
  public let contender: Contender
  public let settings: @Sendable (Durability) -> String
  public let open: @Sendable (URL, Durability) throws -> any TripStore
  /// By how many times less work a turn of it is, so that all are measured about as long.
  public let pace: Int

  /// All whose libraries are installed.
  public static var installed: [Peer] {
    var peers = [Peer(.engine, engineSettings, open: openEngine)]
    #if SQLITE
    peers.append(Peer(.sqlite, { SQLiteTrips.settings($0) }) { try SQLiteTrips($0, $1) })
    #endif
    #if LMDB
    peers.append(Peer(.lmdb, { LMDBTrips.settings($0) }) { try LMDBTrips($0, $1) })
    #endif
    #if LEVELDB
    peers.append(Peer(.leveldb, LevelDBTrips.settings) { try LevelDBTrips($0, $1) })
    #endif
    #if ROCKSDB
    peers.append(Peer(.rocksdb, { RocksDBTrips.settings($0) }) { try RocksDBTrips($0, $1) })
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

  /// RocksDB as its documentation sets it up for size, if it is installed.
  public static var compressed: [Peer] {
    #if ROCKSDB
    return [
      Peer(.rocksdb, { RocksDBTrips.settings($0, .lz4) }) { try RocksDBTrips($0, $1, .lz4) }
    ]
    #else
    return []
    #endif
  }

  /// LogEngine as users of models get it.
  private static let compacting = Peer(
    .engine,
    { engineSettings($0) + ", automatic compaction, no history" },
    open: { folder, durability in
      let durability: EngineOptions.Durability =
        durability == .full ? .full : .relaxed(interval: .seconds(1))
      return try EngineTrips(at: folder.path, durability, .automatic)
    }
  )

  /// All whose libraries are installed, each at its best settings for one process, ours compacting as users get it.
  public static var mixed: [Peer] {
    var peers = [compacting]
    peers += installed.dropFirst()
    #if SQLITE
    peers.append(
      Peer(.sqliteExclusive, { SQLiteTrips.settings($0, .oneProcess) }) {
        try SQLiteTrips($0, $1, .oneProcess)
      }
    )
    #endif
    #if LMDB
    peers.append(
      Peer(.lmdbWritemap, { LMDBTrips.settings($0, .map) }) { try LMDBTrips($0, $1, .map) }
    )
    #endif
    return peers
  }

  /// Those for stores larger than memory, each at its best settings for a process that may have so much memory in all; ours as
  /// users get it.
  ///
  /// - Parameter limit: The memory, in MiB.
  /// - Returns: All whose libraries are installed.
  public static func confined(toMebibytes limit: Int) -> [Peer] {
    var peers = [compacting]
    #if SQLITE
    peers.append(
      Peer(.sqlite, { SQLiteTrips.settings($0, cacheMebibytes: limit / 4) }) {
        try SQLiteTrips($0, $1, cacheMebibytes: limit / 4)
      }
    )
    #endif
    #if LMDB
    peers.append(
      Peer(.lmdb, { LMDBTrips.settings($0, .calls, .none) }) {
        try LMDBTrips($0, $1, .calls, .none)
      }
    )
    #endif
    #if ROCKSDB
    let memory = RocksDBTrips.Memory(cache: limit / 4, writeBuffer: min(64, limit / 8))
    peers.append(
      Peer(.rocksdb, { RocksDBTrips.settings($0, .snappy, memory) }) {
        try RocksDBTrips($0, $1, .snappy, memory)
      }
    )
    #endif
    return peers
  }

  /// Those that are overwritten for minutes; ours as users get it.
  public static var steady: [Peer] {
    let taking: [Contender] = [.lmdb, .rocksdb]
    return [compacting] + installed.filter { taking.contains($0.contender) }
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

  public init(
    _ contender: Contender,
    _ settings: @escaping @Sendable (Durability) -> String,
    pace: Int = 1,
    open: @escaping @Sendable (URL, Durability) throws -> any TripStore
  ) {
    self.pace = pace
    self.contender = contender
    self.settings = settings
    self.open = open
  }
}

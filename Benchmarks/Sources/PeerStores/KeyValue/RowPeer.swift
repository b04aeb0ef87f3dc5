public import Foundation
public import Harness

/// A store of bytes under keys that takes part where rows are nothing but bytes.
public struct RowPeer: Sendable {
  public let contender: Contender
  public let settings: String
  public let open: @Sendable (URL) throws -> any RowStore

  /// All whose libraries are installed.
  public static var installed: [RowPeer] {
    var peers: [RowPeer] = []
    #if LMDB
    peers.append(
      RowPeer(contender: .lmdb, settings: LMDBTrips.settings(.relaxed)) {
        try LMDBTrips($0, .relaxed)
      }
    )
    #endif
    #if LEVELDB
    peers.append(
      RowPeer(contender: .leveldb, settings: LevelDBTrips.settings(.relaxed)) {
        try LevelDBTrips($0, .relaxed)
      }
    )
    #endif
    #if ROCKSDB
    peers.append(
      RowPeer(contender: .rocksdb, settings: RocksDBTrips.settings(.relaxed, .lz4)) {
        try RocksDBTrips($0, .relaxed, .lz4)
      }
    )
    #endif
    return peers
  }
}

import EngineStore
import Foundation
import LogEngine
import Workloads

/// Ten thousand records that represent any number: key *n* holds the record *n* modulo 10,000.
///
/// Making a record costs more than storing it; with a pool, millions of rows are loaded in seconds.
struct RecordPool {
  let records = TripGenerator().records(0..<10_000)

  /// The record of a key.
  func record(_ key: UInt64) -> TripRecord { records[Int(key % 10_000)] }

  /// Adds rows to a store, 10,000 a commit.
  ///
  /// - Parameters:
  ///   - trips: The store.
  ///   - count: The number of rows; a multiple of 10,000.
  /// - Throws: What the engine throws.
  func load(_ trips: EngineTrips, _ count: Int) throws {
    // Keys begin at 1, so that the first record of each ten thousand is the pool's second.
    let rotated = Array(records[1...]) + [records[0]]
    for _ in 0..<count / records.count { try trips.insert(rotated[...]) }
  }

  /// Makes a store of so many rows and closes it.
  ///
  /// - Parameters:
  ///   - store: The store's folder, new.
  ///   - rows: The number of rows; a multiple of 10,000.
  /// - Throws: What the engine throws.
  func makeStore(_ store: URL, rows: Int) throws {
    let trips = try EngineTrips(at: store.path, .relaxed)
    try load(trips, rows)
    try trips.close()
  }
}

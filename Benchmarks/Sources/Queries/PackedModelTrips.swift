import Foundation
import GRDBPeer
import Harness
import LogStore
import ModelStores
import SwiftData
import Workloads

/// Trips as models in a LogStore that was compacted: all rows are in packs.
struct PackedModelTrips {
  private let trips: ModelTrips

  /// Makes a store, fills it, 10,000 models a save, and compacts it.
  ///
  /// - Parameters:
  ///   - folder: Its folder.
  ///   - records: Its contents.
  /// - Throws: What the store throws.
  init(_ folder: URL, _ records: ScatteredTrips) throws {
    let url = folder.appending(path: "packed-models")
    let filled = try ModelTrips(url, .relaxed)
    for batch in records.batches {
      try filled.insert(batch.records[...], firstKey: batch.firstKey)
    }
    try filled.close()
    var configuration = LogStoreConfiguration(url: url)
    configuration.schema = Schema([Trip.self])
    configuration.compaction = LogStoreConfiguration.Compaction(.onDemand, historyByteCount: 0)
    _ = try LogStore(configuration, migrationPlan: nil).compact()
    trips = try ModelTrips(url, .relaxed)
  }

  var querying: Querying {
    Querying(
      contender: .models,
      settings: "a new ModelContext on LogStore, compacted",
      count: { try trips.count(destination: $0, ratingAbove: $1) },
      readEarliest: trips.readEarliest,
      readFirst: trips.readFirst
    )
  }
}

import Foundation
import GRDBPeer
import Harness
import SwiftData
import Workloads

/// Trips as models in a LogStore.
struct ModelTrips {
  private let container: ModelContainer

  /// Makes a store and fills it, 10,000 models a save.
  ///
  /// - Parameters:
  ///   - folder: Where it stands.
  ///   - trips: What it holds.
  /// - Throws: What the store throws.
  init(_ folder: URL, _ trips: ScatteredTrips) throws {
    container = try ModelContainer(
      for: Schema([Trip.self]),
      configurations: [
        LogStoreConfiguration(url: folder.appending(path: "models"), durability: .relaxed)
      ]
    )
    for batch in trips.batches {
      let context = ModelContext(container)
      for record in batch.records { context.insert(Trip(record)) }
      try context.save()
    }
  }

  /// The questions, as an app asks them; each in a new context, as no object is at hand yet.
  var querying: Querying {
    Querying(
      contender: .models,
      settings:
        "a new ModelContext on LogStore, FetchDescriptor with #Predicate and SortDescriptor",
      count: { destination, rating in
        try ModelContext(container).fetchCount(
          FetchDescriptor<Trip>(
            predicate: #Predicate { $0.destination == destination && $0.rating > rating }
          )
        )
      },
      readEarliest: { count in
        try read(FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.startDate)]), count)
      },
      readFirst: { count in try read(FetchDescriptor<Trip>(), count) }
    )
  }

  private func read(_ descriptor: FetchDescriptor<Trip>, _ count: Int) throws -> Int {
    var descriptor = descriptor
    descriptor.fetchLimit = count
    return try ModelContext(container).fetch(descriptor).reduce(0) { $0 + $1.checksum }
  }
}

import Foundation
import GRDBPeer
import Harness
import SwiftData
import Workloads

/// The workload's record as a model with an index on each attribute that is asked for.
@Model
final class IndexedTrip {
  #Index<IndexedTrip>([\.destination], [\.startDate])

  var name: String
  var destination: String
  var startDate: Double
  var endDate: Double
  var rating: Int64
  var isFavorite: Bool
  var note: String
  var tag: String?

  init(_ record: TripRecord) {
    name = record.name
    destination = record.destination
    startDate = record.startDate
    endDate = record.endDate
    rating = record.rating
    isFavorite = record.isFavorite
    note = record.note
    tag = record.tag
  }
}

extension IndexedTrip: TripAttributes {}

/// Trips as indexed models in a LogStore.
struct IndexedModelTrips {
  private let container: ModelContainer

  /// Makes a store and fills it, 10,000 models a save.
  ///
  /// - Parameters:
  ///   - folder: Its folder.
  ///   - trips: Its contents.
  /// - Throws: What the store throws.
  init(_ folder: URL, _ trips: ScatteredTrips) throws {
    container = try ModelContainer(
      for: Schema([IndexedTrip.self]),
      configurations: [
        LogStoreConfiguration(url: folder.appending(path: "indexed-models"), durability: .relaxed)
      ]
    )
    for batch in trips.batches {
      let context = ModelContext(container)
      for record in batch.records { context.insert(IndexedTrip(record)) }
      try context.save()
    }
  }

  /// The questions; the turn that warms up makes the indexes, which live in memory.
  var querying: Querying {
    Querying(
      contender: .models,
      settings: """
        a new ModelContext on LogStore, #Index on destination and on startDate, made in memory by the \
        first fetch
        """,
      count: { destination, rating in
        try ModelContext(container).fetchCount(
          FetchDescriptor<IndexedTrip>(
            predicate: #Predicate { $0.destination == destination && $0.rating > rating }
          )
        )
      },
      readEarliest: { count in
        try read(FetchDescriptor<IndexedTrip>(sortBy: [SortDescriptor(\.startDate)]), count)
      },
      readFirst: { count in try read(FetchDescriptor<IndexedTrip>(), count) }
    )
  }

  private func read(_ descriptor: FetchDescriptor<IndexedTrip>, _ count: Int) throws -> Int {
    var descriptor = descriptor
    descriptor.fetchLimit = count
    return try ModelContext(container).fetch(descriptor).reduce(0) { $0 + $1.checksum }
  }
}

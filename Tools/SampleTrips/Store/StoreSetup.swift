import Foundation
import JSONStore
import SwiftData

/// Which store holds the trips.
enum StoreKind: String, CaseIterable, Sendable { case log, json, memory }

/// What a save of the log store survives, as the command line says it.
enum SaveDurability: String, CaseIterable, Sendable { case full, relaxed }

/// How the trips' container is set up: the kind of store is one line.
struct StoreSetup {
  static let schema = Schema([
    Trip.self, BucketListItem.self, LivingAccommodation.self, Airline.self, Airport.self,
    Plane.self,
  ])

  let kind: StoreKind
  let place: StorePlace
  var durability = SaveDurability.full

  /// Opens the store.
  func makeContainer() throws -> ModelContainer {
    let configuration: any DataStoreConfiguration =
      switch kind {
      case .log: LogStoreConfiguration(url: place.url, durability: logDurability)
      case .json: JSONStoreConfiguration(name: "trips", url: place.url)
      case .memory: ModelConfiguration(isStoredInMemoryOnly: true)
      }
    return try ModelContainer(for: Self.schema, configurations: [configuration])
  }

  private var logDurability: LogStoreConfiguration.Durability {
    switch durability {
    case .full: .full
    case .relaxed: .relaxed
    }
  }
}

import Foundation
import JSONStore
import SwiftData

#if PostgreSQL
import PostgresStore
#endif

/// The kind of store that holds the trips.
enum StoreKind: String, CaseIterable, Sendable {
  case log, json, memory
  /// On a server; only in builds with the trait PostgreSQL.
  case postgres

  /// Whether this build knows stores on servers.
  static var hasPostgres: Bool {
    #if PostgreSQL
    true
    #else
    false
    #endif
  }

  /// Whether the process itself writes the store to files.
  var writesFiles: Bool {
    switch self {
    case .log, .json: true
    case .memory, .postgres: false
    }
  }
}

/// The durability of a save in the log store, as the command line names it.
enum SaveDurability: String, CaseIterable, Sendable { case full, relaxed }

/// The setup of the trips' container: the kind of store is one line.
struct StoreSetup {
  static let schema = Schema([
    Trip.self, BucketListItem.self, LivingAccommodation.self, Airline.self, Airport.self,
    Plane.self,
  ])

  /// The schema of a server in which the trips have their tables.
  static let namespace = "sample_trips"

  let kind: StoreKind
  let place: StorePlace
  var durability = SaveDurability.full
  /// Whether other processes write the log store, too.
  var isShared = false

  /// Opens the store.
  func makeContainer() throws -> ModelContainer {
    let configuration: any DataStoreConfiguration =
      switch kind {
      case .log: logConfiguration
      case .json: JSONStoreConfiguration(name: "trips", url: place.url)
      case .memory: ModelConfiguration(isStoredInMemoryOnly: true)
      case .postgres: try serverConfiguration()
      }
    return try ModelContainer(for: Self.schema, configurations: [configuration])
  }

  private func serverConfiguration() throws -> any DataStoreConfiguration {
    #if PostgreSQL
    PostgresStoreConfiguration(url: place.location, namespace: Self.namespace)
    #else
    // StorePlace tells the user before it comes to this.
    preconditionFailure("a build without the trait PostgreSQL has no store on a server")
    #endif
  }

  private var logConfiguration: LogStoreConfiguration {
    var configuration = LogStoreConfiguration(url: place.url, durability: logDurability)
    if isShared { configuration.writers = .severalProcesses }
    return configuration
  }

  private var logDurability: LogStoreConfiguration.Durability {
    switch durability {
    case .full: .full
    case .relaxed: .relaxed
    }
  }
}

import PostgresStore
import SwiftData
import Workloads

/// Models on a server, as an app uses them.
final class ModelTrips {
  private let container: ModelContainer
  private let store: PostgresStore
  private let saving: ModelContext

  init(_ url: String, namespace: String) throws {
    let configuration = PostgresStoreConfiguration(url: url, namespace: namespace)
    container = try ModelContainer(
      for: Schema([Trip.self, Harbour.self, Call.self]),
      configurations: [configuration]
    )
    guard let store = container.stores(of: PostgresStore.self).first else {
      throw Server.Failure(description: "the container has no store on the server")
    }
    self.store = store
    saving = ModelContext(container)
  }

  var roundTripCount: Int { store.roundTripCount }

  /// Saves new trips in one context that lives on.
  func save(_ records: ArraySlice<TripRecord>) throws {
    for record in records { saving.insert(Trip(record)) }
    try saving.save()
  }

  /// Fetches trips in a context of its own, and reads every attribute.
  func fetch() throws -> Int {
    var descriptor = FetchDescriptor<Trip>()
    descriptor.fetchLimit = 10_000
    return try ModelContext(container).fetch(descriptor).reduce(0) { $0 + $1.checksum }
  }

  func fill(harbours: Int, callsPerHarbour: Int) throws {
    let context = ModelContext(container)
    let all = (1...harbours).map { Harbour("harbour \($0)") }
    for harbour in all { context.insert(harbour) }
    for number in 1...(harbours * callsPerHarbour) {
      all[(number - 1) % harbours].calls.append(Call("ship \(number)", tonnage: number))
    }
    try context.save()
  }

  /// Fetches harbours, and follows the relationship of each to its calls.
  func addUpTonnage() throws -> Int {
    let harbours = try ModelContext(container).fetch(FetchDescriptor<Harbour>())
    return harbours.reduce(0) { sum, harbour in
      harbour.calls.reduce(sum) { $0 + $1.tonnage + $1.ship.utf8.count }
    }
  }
}

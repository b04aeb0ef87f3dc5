import Foundation
import SwiftData

// In the spellings of the framework's first releases to developers, as the listings of the sessions of WWDC23 have
// them, and of the first listings of a custom store. All of it is deprecated, and so is what holds it: inside, the
// compiler has nothing to say.

@available(*, deprecated, message: "in former spellings on purpose")
enum FirstSeeds {
  @Model
  final class Trip {
    @Attribute(.unique) var name: String
    @Attribute(.encrypt) var passport: String = ""
    @Attribute(.transform(by: ReversingTransformer.self)) var note: String?
    @Attribute(.transformable) var route: Route?

    @Relationship(.cascade, inverse: \BucketListItem.trip)
    var bucketList: [BucketListItem]? = []

    @Relationship(.cascade)
    var livingAccommodation: LivingAccommodation?

    init(name: String) { self.name = name }
  }

  struct Route: Codable, Equatable { var stops: [String] }

  @Model
  final class BucketListItem {
    var title: String
    var trip: Trip?
    init(title: String) { self.title = title }
  }

  @Model
  final class LivingAccommodation {
    var placeName: String
    init(placeName: String) { self.placeName = placeName }
  }

  /// Keeps texts as the bytes of their reverse.
  final class ReversingTransformer: ValueTransformer {
    override func transformedValue(_ value: Any?) -> Any? {
      (value as? String).map { Data(String($0.reversed()).utf8) }
    }
    override func reverseTransformedValue(_ value: Any?) -> Any? {
      (value as? Data).map { String(String(decoding: $0, as: UTF8.self).reversed()) }
    }
  }

  actor Importer: ModelActor {
    nonisolated let modelContainer: ModelContainer
    nonisolated let modelExecutor: any ModelExecutor

    init(container: ModelContainer) {
      modelContainer = container
      let context = ModelContext(container)
      modelExecutor = DefaultModelExecutor(context: context)
    }

    func count() throws -> Int { try context.fetchCount(FetchDescriptor<Trip>()) }
  }

  static func containers(in folder: URL) throws -> [ModelContainer] {
    let trips = ModelConfiguration(
      schema: Schema([Trip.self, LivingAccommodation.self, BucketListItem.self]),
      url: folder.appending(path: "trips.store"),
      cloudKitContainerIdentifier: "com.example.trips"
    )
    return [
      try ModelContainer(
        for: [Trip.self, LivingAccommodation.self],
        configurations: ModelConfiguration(inMemory: true)
      ),
      try ModelContainer(for: Schema([Trip.self, LivingAccommodation.self]), trips),
    ]
  }

  /// Opens the user's own store: tests only compile it.
  static func openDefaultStore() throws -> ModelContainer {
    try ModelContainer([Trip.self, LivingAccommodation.self])
  }

  @discardableResult
  static func plan(in context: ModelContext) throws -> Trip {
    let trip = Trip(name: "Iceland")
    context.insert(object: trip)
    trip.bucketList?.append(BucketListItem(title: "See a geyser"))
    trip.livingAccommodation = LivingAccommodation(placeName: "Hut")
    trip.note = "warm socks"
    trip.route = Route(stops: ["Reykjavík", "Vík"])
    try context.save()
    return trip
  }
}

@available(*, deprecated, message: "in former spellings on purpose")
final class FirstStoreConfiguration: DataStoreConfiguration {
  typealias StoreType = FirstStore

  var name = "first"
  var schema: Schema?

  static func == (lhs: FirstStoreConfiguration, rhs: FirstStoreConfiguration) -> Bool {
    lhs.name == rhs.name
  }
  func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

@available(*, deprecated, message: "in former spellings on purpose")
final class FirstStore: DataStore {
  typealias Configuration = FirstStoreConfiguration
  typealias Snapshot = DefaultSnapshot

  let configuration: FirstStoreConfiguration
  let identifier = "first"
  let schema: Schema

  init(_ configuration: FirstStoreConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?)
    throws
  {
    self.configuration = configuration
    schema = configuration.schema ?? Schema([])
  }

  func fetch<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> DataStoreFetchResult<T, DefaultSnapshot> where T: PersistentModel {
    DataStoreFetchResult(descriptor: request.descriptor, fetchedSnapshots: [])
  }

  func save(
    _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
  ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
    DataStoreSaveChangesResult(for: identifier)
  }
}

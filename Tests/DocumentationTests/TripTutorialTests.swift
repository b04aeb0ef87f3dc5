import Foundation
import JSONStore
import SwiftData
import Testing

// The snippets of the tutorial Trips in five steps, as they are printed there.

enum TripTutorial {
  @Model
  final class Trip {
    #Index<Trip>([\.startDate])

    var name: String
    var destination: String
    var startDate: Date
    var endDate: Date
    @Relationship(deleteRule: .cascade, inverse: \BucketListItem.trip)
    var bucketList: [BucketListItem] = []

    init(name: String, destination: String, startDate: Date, endDate: Date) {
      self.name = name
      self.destination = destination
      self.startDate = startDate
      self.endDate = endDate
    }
  }

  @Model
  final class BucketListItem {
    var title: String
    var isDone = false
    var trip: Trip?

    init(_ title: String) { self.title = title }
  }

  struct TripList {
    let context: ModelContext

    init(_ container: ModelContainer) { context = ModelContext(container) }

    func plan(_ name: String, to destination: String, from start: Date, days: Int, todo: [String])
      throws
    {
      let end = start + Double(days) * 86_400
      let trip = Trip(name: name, destination: destination, startDate: start, endDate: end)
      context.insert(trip)
      trip.bucketList = todo.map { BucketListItem($0) }
      try context.save()
    }

    func trips(after date: Date, searching text: String = "") throws -> [Trip] {
      let upcoming = #Predicate<Trip> { $0.startDate >= date }
      let matching = #Predicate<Trip> { trip in
        trip.name.localizedStandardContains(text)
          || trip.bucketList.contains { $0.title.localizedStandardContains(text) }
      }
      return try context.fetch(
        FetchDescriptor(
          predicate: text.isEmpty ? upcoming : upcoming && matching,
          sortBy: [SortDescriptor(\.startDate)]
        )
      )
    }

    func cancel(_ trip: Trip) throws {
      context.delete(trip)
      try context.save()
    }
  }

  @ModelActor
  actor OfferImporter {
    func importOffers(_ offers: [(name: String, destination: String, start: Date)]) throws {
      modelContext.author = "offers"
      for offer in offers {
        modelContext.insert(
          Trip(
            name: offer.name,
            destination: offer.destination,
            startDate: offer.start,
            endDate: offer.start + 7 * 86_400
          )
        )
      }
      try modelContext.save()
    }
  }

  struct Unread {
    let context: ModelContext
    var last: DefaultHistoryToken?

    /// The names of the trips that came from elsewhere since the last call.
    mutating func next() throws -> [String] {
      var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
      if let last {
        descriptor.predicate = #Predicate { $0.token > last && $0.author == "offers" }
      } else {
        descriptor.predicate = #Predicate { $0.author == "offers" }
      }
      let transactions = try context.fetchHistory(descriptor)
      last = transactions.last?.token ?? last

      let new = transactions.flatMap(\.changes).compactMap { change in
        if case .insert = change { change.changedPersistentIdentifier } else { nil }
      }
      return new.compactMap { context.model(for: $0) as? Trip }.map(\.name)
    }
  }
}

enum TripModelsV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] {
    [TripTutorial.Trip.self, TripTutorial.BucketListItem.self]
  }
}

enum TripModelsV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Trip.self, BucketListItem.self] }

  @Model
  final class Trip {
    #Index<Trip>([\.startDate])

    @Attribute(.unique) var name: String
    var destination: String
    var startDate: Date
    var endDate: Date
    var rating: Int?
    @Relationship(deleteRule: .cascade, inverse: \BucketListItem.trip)
    var bucketList: [BucketListItem] = []

    init(name: String, destination: String, startDate: Date, endDate: Date) {
      self.name = name
      self.destination = destination
      self.startDate = startDate
      self.endDate = endDate
    }
  }

  @Model
  final class BucketListItem {
    var title: String
    var isDone = false
    var trip: Trip?

    init(_ title: String) { self.title = title }
  }
}

enum TripModelsPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [TripModelsV1.self, TripModelsV2.self] }

  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: TripModelsV1.self,
        toVersion: TripModelsV2.self,
        willMigrate: { context in
          var names: Set<String> = []
          let trips = try context.fetch(FetchDescriptor<TripTutorial.Trip>())
          for trip in trips where !names.insert(trip.name).inserted {
            trip.name += " " + trip.startDate.formatted(.iso8601.year().month().day())
          }
          try context.save()
        },
        didMigrate: nil
      )
    ]
  }
}

@Suite struct `The tutorial on trips` {
  typealias Trip = TripTutorial.Trip
  typealias BucketListItem = TripTutorial.BucketListItem
  typealias TripList = TripTutorial.TripList
  typealias OfferImporter = TripTutorial.OfferImporter
  typealias Unread = TripTutorial.Unread

  let folder: TestFolder
  let day = Date(timeIntervalSince1970: 1_793_491_200)

  init() throws { folder = try TestFolder() }

  private func emptyContainer() throws -> ModelContainer {
    try ModelContainer(
      for: Trip.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
  }

  @Test func `plans, finds and cancels trips`() throws {
    let container = try emptyContainer()
    let list = TripList(container)
    try list.plan("Azores", to: "Ponta Delgada", from: day, days: 9, todo: ["See whales", "Swim"])
    try list.plan("Porto", to: "Porto", from: day + 86_400, days: 3, todo: [])
    try list.plan("Long ago", to: "Rome", from: day - 86_400, days: 3, todo: ["Swim"])

    #expect(try list.trips(after: day).map(\.name) == ["Azores", "Porto"])
    #expect(try list.trips(after: day, searching: "whale").map(\.name) == ["Azores"])
    try list.cancel(list.trips(after: day)[0])
    #expect(try list.context.fetchCount(FetchDescriptor<BucketListItem>()) == 1)
  }

  @Test func `tells which trips came from elsewhere, once`() async throws {
    let container = try emptyContainer()
    let list = TripList(container)
    try list.plan("Porto", to: "Porto", from: day, days: 3, todo: [])
    var unread = Unread(context: list.context)
    let importer = OfferImporter(modelContainer: container)
    try await importer.importOffers([(name: "Madeira", destination: "Funchal", start: day)])
    #expect(try unread.next() == ["Madeira"])
    #expect(try unread.next() == [])
    try await importer.importOffers([(name: "Faro", destination: "Faro", start: day)])
    #expect(try unread.next() == ["Faro"])
  }

  @Test func `opens the trips of version 1, with names made different`() async throws {
    let url = folder.url.appending(path: "trips.store")
    let old = try ModelContainer(
      for: Schema(versionedSchema: TripModelsV1.self),
      configurations: LogStoreConfiguration(url: url)
    )
    for start in [day, day + 86_400] {
      try TripList(old).plan("Porto", to: "Porto", from: start, days: 1, todo: ["Swim"])
    }
    try await old.close()

    let container = try ModelContainer(
      for: Schema(versionedSchema: TripModelsV2.self),
      migrationPlan: TripModelsPlan.self,
      configurations: LogStoreConfiguration(url: url)
    )
    let trips = try ModelContext(container)
      .fetch(FetchDescriptor<TripModelsV2.Trip>(sortBy: [SortDescriptor(\.startDate)]))
    #expect(trips.map(\.name) == ["Porto", "Porto 2026-11-02"])
    #expect(trips.map(\.rating) == [nil, nil])
    #expect(trips.flatMap(\.bucketList).map(\.title) == ["Swim", "Swim"])
  }

  @Test(arguments: ["log", "json", "memory"])
  func `keeps the same trips in any store`(kind: String) throws {
    let folder = folder.url
    let configuration: any DataStoreConfiguration =
      switch kind {
      case "log": LogStoreConfiguration(url: folder.appending(path: "trips.store"))
      case "json":
        JSONStoreConfiguration(name: "trips", url: folder.appending(path: "trips.json"))
      default: ModelConfiguration(isStoredInMemoryOnly: true)
      }
    let container = try ModelContainer(for: Trip.self, configurations: configuration)
    try TripList(container).plan("Porto", to: "Porto", from: day, days: 3, todo: ["Swim"])
    let trips = try TripList(container).trips(after: day, searching: "swim")
    #expect(trips.map(\.name) == ["Porto"])
  }
}

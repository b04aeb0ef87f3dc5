import Foundation
import SwiftData
import Synchronization

// The versions of WWDC's trips: unique names from the second on, other names for the dates in the third, kinds of
// trips in the fourth.

enum TripsV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Trip.self, BucketListItem.self] }

  @Model final class Trip {
    var name: String
    var destination: String
    var start_date: Date
    var end_date: Date
    @Relationship(deleteRule: .cascade, inverse: \BucketListItem.trip)
    var bucketList: [BucketListItem] = []

    init(name: String, destination: String, start_date: Date, end_date: Date) {
      self.name = name
      self.destination = destination
      self.start_date = start_date
      self.end_date = end_date
    }
  }

  @Model final class BucketListItem {
    var title: String
    var trip: Trip?
    init(title: String) { self.title = title }
  }
}

enum TripsV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Trip.self, BucketListItem.self] }

  @Model final class Trip {
    @Attribute(.unique) var name: String
    var destination: String
    var start_date: Date
    var end_date: Date
    @Relationship(deleteRule: .cascade, inverse: \BucketListItem.trip)
    var bucketList: [BucketListItem] = []

    init(name: String, destination: String, start_date: Date, end_date: Date) {
      self.name = name
      self.destination = destination
      self.start_date = start_date
      self.end_date = end_date
    }
  }

  @Model final class BucketListItem {
    var title: String
    var trip: Trip?
    init(title: String) { self.title = title }
  }
}

enum TripsV3: VersionedSchema {
  static let versionIdentifier = Schema.Version(3, 0, 0)
  static var models: [any PersistentModel.Type] { [Trip.self, BucketListItem.self] }

  @Model final class Trip {
    @Attribute(.unique) var name: String
    var destination: String
    @Attribute(originalName: "start_date") var startDate: Date
    @Attribute(originalName: "end_date") var endDate: Date
    @Relationship(deleteRule: .cascade, inverse: \BucketListItem.journey)
    var bucketList: [BucketListItem] = []

    init(name: String, destination: String, startDate: Date, endDate: Date) {
      self.name = name
      self.destination = destination
      self.startDate = startDate
      self.endDate = endDate
    }
  }

  @Model final class BucketListItem {
    var title: String
    @Relationship(originalName: "trip") var journey: Trip?
    init(title: String) { self.title = title }
  }
}

enum TripsV4: VersionedSchema {
  static let versionIdentifier = Schema.Version(4, 0, 0)
  static var models: [any PersistentModel.Type] {
    [Trip.self, BucketListItem.self, BusinessTrip.self]
  }

  @Model class Trip {
    @Attribute(.unique) var name: String
    var destination: String
    @Attribute(originalName: "start_date") var startDate: Date
    @Attribute(originalName: "end_date") var endDate: Date
    /// Filled by the stage.
    var days: Int
    @Relationship(deleteRule: .cascade, inverse: \BucketListItem.journey)
    var bucketList: [BucketListItem] = []

    init(name: String, destination: String, startDate: Date, endDate: Date) {
      self.name = name
      self.destination = destination
      self.startDate = startDate
      self.endDate = endDate
      days = 0
    }
  }

  @Model final class BusinessTrip: Trip {
    var perDiem: Double = 50

    override init(name: String, destination: String, startDate: Date, endDate: Date) {
      super.init(name: name, destination: destination, startDate: startDate, endDate: endDate)
    }
  }

  @Model final class BucketListItem {
    var title: String
    @Relationship(originalName: "trip") var journey: Trip?
    init(title: String) { self.title = title }
  }
}

typealias Trip = TripsV4.Trip

enum TripsPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] {
    [TripsV1.self, TripsV2.self, TripsV3.self, TripsV4.self]
  }
  static var stages: [MigrationStage] { [v1ToV2, v2ToV3, v3ToV4] }

  static let v1ToV2 = MigrationStage.custom(
    fromVersion: TripsV1.self,
    toVersion: TripsV2.self,
    willMigrate: { context in
      let trips = try context.fetch(
        FetchDescriptor<TripsV1.Trip>(sortBy: [SortDescriptor(\.start_date)])
      )
      var kept: [String: TripsV1.Trip] = [:]
      for trip in trips {
        guard let first = kept[trip.name] else {
          kept[trip.name] = trip
          continue
        }
        for item in trip.bucketList { item.trip = first }
        context.delete(trip)
      }
      try context.save()
    },
    didMigrate: nil
  )

  static let v2ToV3 = MigrationStage.lightweight(
    fromVersion: TripsV2.self,
    toVersion: TripsV3.self
  )

  static let v3ToV4 = MigrationStage.custom(
    fromVersion: TripsV3.self,
    toVersion: TripsV4.self,
    willMigrate: nil,
    didMigrate: { context in
      for trip in try context.fetch(FetchDescriptor<TripsV4.Trip>()) {
        trip.days = Int(trip.endDate.timeIntervalSince(trip.startDate) / 86_400)
      }
      try context.save()
    }
  )
}

/// A trip as the tests compare it, whatever its version.
struct TripFacts: Hashable, Comparable {
  var name: String
  var destination: String
  var start: Date
  var items: [String]

  static func < (lhs: TripFacts, rhs: TripFacts) -> Bool {
    (lhs.name, lhs.start) < (rhs.name, rhs.start)
  }
}

/// A store of trips on disk, opened with one version or another.
struct TripStore {
  let folder: TemporaryFolder
  var url: URL { folder.url.appending(path: "trips.store") }

  init() throws { folder = try TemporaryFolder() }

  func open(
    _ version: any VersionedSchema.Type,
    plan: (any SchemaMigrationPlan.Type)? = nil
  ) throws -> ModelContext {
    ModelContext(
      try ModelContainer(
        for: Schema(versionedSchema: version),
        migrationPlan: plan,
        configurations: [LogStoreConfiguration(url: url)]
      )
    )
  }

  static let day = Date(timeIntervalSinceReferenceDate: 700_000_000)

  /// Writes trips of the first version, two of them of one name.
  func writeFirstVersion() throws {
    let context = try open(TripsV1.self)
    for (number, name) in ["Lisbon", "Oslo", "Lisbon"].enumerated() {
      let start = Self.day + Double(number) * 86_400
      let trip = TripsV1.Trip(
        name: name,
        destination: "\(name) \(number)",
        start_date: start,
        end_date: start + Double(number + 2) * 86_400
      )
      context.insert(trip)
      trip.bucketList = ["see", "eat"].map { TripsV1.BucketListItem(title: "\($0) \(number)") }
    }
    try context.save()
  }

  /// Brings the store to a version.
  func write(_ version: any VersionedSchema.Type) throws {
    try writeFirstVersion()
    if version != TripsV1.self { _ = try open(version, plan: TripsPlan.self) }
  }
}

extension ModelContext {
  func facts(_: TripsV1.Type) throws -> [TripFacts] {
    try fetch(FetchDescriptor<TripsV1.Trip>()).map { trip in
      TripFacts(
        name: trip.name,
        destination: trip.destination,
        start: trip.start_date,
        items: trip.bucketList.map(\.title)
      )
    }.sorted()
  }

  func facts(_: TripsV4.Type) throws -> [TripFacts] {
    try fetch(FetchDescriptor<TripsV4.Trip>()).map { trip in
      TripFacts(
        name: trip.name,
        destination: trip.destination,
        start: trip.startDate,
        items: trip.bucketList.map(\.title)
      )
    }.sorted()
  }
}

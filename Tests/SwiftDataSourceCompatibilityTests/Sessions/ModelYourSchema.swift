import Foundation
import SwiftData

// In the style of "Model your schema with SwiftData" (WWDC23): three versions of one schema, and a plan
// that leads from each to the next.

enum SampleTripsSchemaV1: VersionedSchema {
  static var models: [any PersistentModel.Type] {
    [Trip.self, BucketListItem.self, LivingAccommodation.self]
  }

  static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

  @Model
  final class Trip {
    var name: String
    var destination: String
    var start_date: Date
    var end_date: Date

    var bucketList: [BucketListItem]? = []
    var livingAccommodation: LivingAccommodation?

    init(name: String, destination: String, start_date: Date, end_date: Date) {
      self.name = name
      self.destination = destination
      self.start_date = start_date
      self.end_date = end_date
    }
  }

  @Model
  final class BucketListItem {
    var title: String
    var trip: Trip?

    init(title: String) { self.title = title }
  }

  @Model
  final class LivingAccommodation {
    var address: String

    init(address: String) { self.address = address }
  }
}

enum SampleTripsSchemaV2: VersionedSchema {
  static let models: [any PersistentModel.Type] = [
    Trip.self, BucketListItem.self, LivingAccommodation.self,
  ]

  static let versionIdentifier = Schema.Version(2, 0, 0)

  @Model
  final class Trip {
    @Attribute(.unique) var name: String
    var destination: String
    var start_date: Date
    var end_date: Date

    var bucketList: [BucketListItem]? = []
    var livingAccommodation: LivingAccommodation?

    init(name: String, destination: String, start_date: Date, end_date: Date) {
      self.name = name
      self.destination = destination
      self.start_date = start_date
      self.end_date = end_date
    }
  }

  @Model
  final class BucketListItem {
    var title: String
    var trip: Trip?

    init(title: String) { self.title = title }
  }

  @Model
  final class LivingAccommodation {
    var address: String

    init(address: String) { self.address = address }
  }
}

enum SampleTripsSchemaV3: VersionedSchema {
  static var models: [any PersistentModel.Type] {
    [Trip.self, BucketListItem.self, LivingAccommodation.self]
  }

  static var versionIdentifier: Schema.Version { .init(3, 0, 0) }
}

extension SampleTripsSchemaV3 {
  @Model
  final class Trip {
    @Attribute(.unique) var name: String
    var destination: String
    @Attribute(originalName: "start_date") var startDate: Date
    @Attribute(originalName: "end_date") var endDate: Date

    @Relationship(deleteRule: .cascade, inverse: \BucketListItem.trip)
    var bucketList: [BucketListItem]? = []

    @Relationship(deleteRule: .cascade)
    var livingAccommodation: LivingAccommodation?

    @Transient
    var tripViews: Int = 0

    init(name: String, destination: String, startDate: Date = .now, endDate: Date = .distantFuture)
    {
      self.name = name
      self.destination = destination
      self.startDate = startDate
      self.endDate = endDate
    }
  }

  @Model
  final class BucketListItem {
    var title: String
    var trip: Trip?

    init(title: String) { self.title = title }
  }

  @Model
  final class LivingAccommodation {
    var address: String

    init(address: String) { self.address = address }
  }
}

enum SampleTripsMigrationPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] {
    [SampleTripsSchemaV1.self, SampleTripsSchemaV2.self, SampleTripsSchemaV3.self]
  }

  static var stages: [MigrationStage] {
    [migrateV1toV2, migrateV2toV3]
  }

  static let migrateV1toV2 = MigrationStage.custom(
    fromVersion: SampleTripsSchemaV1.self,
    toVersion: SampleTripsSchemaV2.self,
    willMigrate: { context in
      let trips = try? context.fetch(FetchDescriptor<SampleTripsSchemaV1.Trip>())
      var names: Set<String> = []
      for trip in trips ?? [] where !names.insert(trip.name).inserted {
        trip.name += " (again)"
      }
      try? context.save()
    },
    didMigrate: nil
  )

  static let migrateV2toV3 = MigrationStage.lightweight(
    fromVersion: SampleTripsSchemaV2.self,
    toVersion: SampleTripsSchemaV3.self
  )
}

import Foundation
import SwiftData

// In the style of "Meet SwiftData" and "Build an app with SwiftData" (WWDC23): a few models, and what an
// app does with them.

enum MeetSwiftData {
  @Model
  class Trip {
    @Attribute(.unique) var name: String
    var destination: String
    var endDate: Date
    var startDate: Date

    @Relationship(.unique, deleteRule: .cascade) var bucketList: [BucketListItem]? = []
    @Relationship(deleteRule: .cascade) var livingAccommodation: LivingAccommodation?

    init(name: String, destination: String, startDate: Date = .now, endDate: Date = .distantFuture)
    {
      self.name = name
      self.destination = destination
      self.startDate = startDate
      self.endDate = endDate
    }
  }

  @Model
  class BucketListItem {
    var title: String
    var isPlanned = false
    var details: String = ""
    var trip: Trip?

    init(title: String) {
      self.title = title
    }
  }

  @Model
  class LivingAccommodation {
    var placeName: String
    var address: Address

    struct Address: Codable {
      var street: String
      var city: String
      var postalCode: String?
    }

    init(placeName: String, address: Address) {
      self.placeName = placeName
      self.address = address
    }
  }

  static func tripsToNewYork(in context: ModelContext) throws -> [Trip] {
    let today = Date()
    let tripPredicate = #Predicate<Trip> {
      $0.destination == "New York" && $0.name.contains("birthday") && $0.startDate > today
    }
    let descriptor = FetchDescriptor<Trip>(
      predicate: tripPredicate,
      sortBy: [SortDescriptor(\.startDate, order: .reverse), SortDescriptor(\Trip.name)]
    )
    return try context.fetch(descriptor)
  }

  static func plan(_ trip: Trip, in context: ModelContext) throws {
    context.insert(trip)
    trip.bucketList?.append(BucketListItem(title: "See the Statue of Liberty"))
    trip.bucketList?.append(BucketListItem(title: "Walk the High Line"))
    trip.livingAccommodation = LivingAccommodation(
      placeName: "Hotel",
      address: .init(street: "5th Avenue", city: "New York")
    )
    if context.hasChanges {
      try context.save()
    }
  }
}

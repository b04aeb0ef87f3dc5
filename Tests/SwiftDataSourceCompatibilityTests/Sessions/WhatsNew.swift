import Foundation
import SwiftData

// In the style of "What's new in SwiftData" (WWDC24): compound uniqueness, indices, and values
// kept in the history.

enum WhatsNew {
  @Model
  class Trip {
    #Unique<Trip>([\.name, \.startDate, \.endDate])
    #Index<Trip>([\.name], [\.startDate], [\.endDate], [\.name, \.startDate, \.endDate])

    @Attribute(.preserveValueOnDeletion)
    var name: String
    var destination: String

    @Attribute(.preserveValueOnDeletion)
    var startDate: Date

    @Attribute(.preserveValueOnDeletion)
    var endDate: Date

    var bucketList: [BucketListItem] = [BucketListItem]()
    var livingAccommodation: LivingAccommodation?

    init(name: String, destination: String, startDate: Date, endDate: Date) {
      self.name = name
      self.destination = destination
      self.startDate = startDate
      self.endDate = endDate
    }
  }

  @Model
  class BucketListItem {
    #Index<BucketListItem>(.binary([\.title]), .binary([\.isInPlan, \.title]))

    var title: String
    var isInPlan: Bool = false
    @Relationship(inverse: \Trip.bucketList) var trip: Trip?

    init(title: String, isInPlan: Bool = false) {
      self.title = title
      self.isInPlan = isInPlan
    }
  }

  @Model
  class LivingAccommodation {
    #Unique<LivingAccommodation>([\.placeName], [\.latitude, \.longitude])

    var placeName: String
    var latitude: Double
    var longitude: Double

    init(placeName: String, latitude: Double, longitude: Double) {
      self.placeName = placeName
      self.latitude = latitude
      self.longitude = longitude
    }
  }

  static func search(_ searchText: String, from start: Date, to end: Date) -> Predicate<Trip> {
    #Predicate<Trip> {
      (searchText.isEmpty
        ? true
        : $0.name.localizedStandardContains(searchText)
          || $0.destination.localizedStandardContains(searchText))
        && (start <= $0.startDate && $0.endDate <= end)
    }
  }

  static func busyTrips(moreThan limit: Int) -> Predicate<Trip> {
    #Predicate<Trip> { trip in
      trip.bucketList.filter { !$0.isInPlan }.count > limit
    }
  }
}

import SwiftData

@Model
final class Trip {
  var name: String
  var destination: String
  var startDate: Date
  var endDate: Date

  var flightNumber: Int
  var distance: Int
  var scheduledDeparture: Date
  var actualDeparture: Date?
  var departureDelay: Int?

  var airline: Airline?
  var origin: Airport?
  var arrivalAirport: Airport?
  var plane: Plane?

  @Relationship(deleteRule: .cascade, inverse: \BucketListItem.trip)
  var bucketList: [BucketListItem] = []

  @Relationship(deleteRule: .cascade, inverse: \LivingAccommodation.trip)
  var livingAccommodation: LivingAccommodation?

  init(
    name: String,
    destination: String,
    startDate: Date,
    endDate: Date,
    flightNumber: Int,
    distance: Int,
    scheduledDeparture: Date
  ) {
    self.name = name
    self.destination = destination
    self.startDate = startDate
    self.endDate = endDate
    self.flightNumber = flightNumber
    self.distance = distance
    self.scheduledDeparture = scheduledDeparture
  }
}

@Model
final class BucketListItem {
  var title: String
  var details: String
  var hasReservation: Bool
  var isInPlan: Bool
  var trip: Trip?

  init(title: String, details: String, hasReservation: Bool = false, isInPlan: Bool = true) {
    self.title = title
    self.details = details
    self.hasReservation = hasReservation
    self.isInPlan = isInPlan
  }
}

@Model
final class LivingAccommodation {
  var address: String
  var placeName: String
  var isConfirmed: Bool
  var trip: Trip?

  init(address: String, placeName: String, isConfirmed: Bool = false) {
    self.address = address
    self.placeName = placeName
    self.isConfirmed = isConfirmed
  }
}

@Model
final class Airline {
  @Attribute(.unique) var code: String
  var name: String

  @Relationship(deleteRule: .cascade, inverse: \Trip.airline)
  var trips: [Trip] = []

  init(code: String, name: String) {
    self.code = code
    self.name = name
  }
}

@Model
final class Airport {
  @Attribute(.unique) var code: String
  var name: String
  var latitude: Double
  var longitude: Double
  var altitude: Int

  @Relationship(inverse: \Trip.origin)
  var departures: [Trip] = []

  @Relationship(inverse: \Trip.arrivalAirport)
  var arrivals: [Trip] = []

  init(code: String, name: String, latitude: Double, longitude: Double, altitude: Int) {
    self.code = code
    self.name = name
    self.latitude = latitude
    self.longitude = longitude
    self.altitude = altitude
  }
}

@Model
final class Plane {
  @Attribute(.unique) var tailNumber: String
  var manufacturer: String
  var model: String
  var year: Int?
  var seats: Int

  @Relationship(inverse: \Trip.plane)
  var trips: [Trip] = []

  init(tailNumber: String, manufacturer: String, model: String, year: Int?, seats: Int) {
    self.tailNumber = tailNumber
    self.manufacturer = manufacturer
    self.model = model
    self.year = year
    self.seats = seats
  }
}

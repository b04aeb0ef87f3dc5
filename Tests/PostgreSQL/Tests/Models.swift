import Foundation
import ModelRuntime

struct Stop: Codable, Hashable {
  var place: String
  var nights: Int
  var price: Double
  var day: Date
  var ticket: Data
}

@Model final class Journey {
  @Attribute(.unique) var code: String
  @Attribute(.preserveValueOnDeletion) var title: String
  var begins: Date
  var ends: Date?
  var budget: Decimal
  var rating: Double
  var stops: [Stop]
  var codes: [Int: String]
  @Attribute(.externalStorage) var map: Data?
  @Relationship(deleteRule: .cascade, inverse: \Leg.journey) var legs: [Leg] = []

  init(_ code: String, title: String = "") {
    self.code = code
    self.title = title
    begins = Date(timeIntervalSinceReferenceDate: 0)
    budget = 0
    rating = 0
    stops = []
    codes = [:]
  }
}

@Model final class Leg {
  var place: String
  var journey: Journey?

  init(_ place: String) { self.place = place }
}

import Foundation
import SwiftData

// In the style of "SwiftData: Dive into inheritance and schema migration" (WWDC25).

@Model
class Journey {
  #Index<Journey>([\.name], [\.startDate])

  @Attribute(.preserveValueOnDeletion) var name: String
  var destination: String
  var startDate: Date
  var endDate: Date

  @Relationship(deleteRule: .cascade, inverse: \Stopover.journey) var stopovers: [Stopover] = []

  init(name: String, destination: String, startDate: Date = .now, endDate: Date = .distantFuture) {
    self.name = name
    self.destination = destination
    self.startDate = startDate
    self.endDate = endDate
  }
}

@available(iOS 26, macOS 26, tvOS 26, watchOS 26, visionOS 26, *)
@Model
class BusinessJourney: Journey {
  var perdiem: Double = 0.0

  init(name: String, destination: String, perdiem: Double) {
    self.perdiem = perdiem
    super.init(name: name, destination: destination)
  }
}

@available(iOS 26, macOS 26, tvOS 26, watchOS 26, visionOS 26, *)
@Model
class PersonalJourney: Journey {
  enum Reason: String, CaseIterable, Codable, Identifiable {
    case family
    case reunion
    case wellness
    case unknown

    var id: Self { self }
  }

  var reason: Reason

  init(name: String, destination: String, reason: Reason = .unknown) {
    self.reason = reason
    super.init(name: name, destination: destination)
  }
}

@Model
final class Stopover {
  var city: String
  var journey: Journey?

  init(city: String) { self.city = city }
}

@available(iOS 26, macOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension Journey {
  static var business: Predicate<Journey> {
    #Predicate<Journey> { $0 is BusinessJourney }
  }

  static func personal(because reason: PersonalJourney.Reason) -> Predicate<Journey> {
    let rawReason = reason
    return #Predicate<Journey> { journey in
      if let personal = journey as? PersonalJourney {
        personal.reason == rawReason
      } else {
        false
      }
    }
  }
}

import Foundation
import SwiftData

/// A place with many visits.
@Model
final class City {
  #Index<City>([\.name])

  var name: String
  var country: String
  @Relationship(inverse: \Visit.city) var visits: [Visit] = []

  init(_ number: Int) {
    name = "city \(number)"
    country = "country \(number % 50)"
  }
}

/// A visit of a city.
@Model
final class Visit {
  var rating: Int
  var note: String
  var city: City?

  init(_ number: Int) {
    rating = number % 5
    note = "visit \(number)"
  }
}

/// A parent whose children go with it.
@Model
final class Journal {
  var title: String
  @Relationship(deleteRule: .cascade, inverse: \Entry.journal) var entries: [Entry] = []

  init(_ title: String) { self.title = title }
}

/// A child of a journal.
@Model
final class Entry {
  var number: Int
  var journal: Journal?

  init(_ number: Int) { self.number = number }
}

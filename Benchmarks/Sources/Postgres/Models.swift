import SwiftData
import Workloads

/// The workload's record as a model.
@Model
final class Trip {
  var name: String
  var destination: String
  var startDate: Double
  var endDate: Double
  var rating: Int64
  var isFavorite: Bool
  var note: String
  var tag: String?

  init(_ record: TripRecord) {
    name = record.name
    destination = record.destination
    startDate = record.startDate
    endDate = record.endDate
    rating = record.rating
    isFavorite = record.isFavorite
    note = record.note
    tag = record.tag
  }
}

extension Trip: TripAttributes {}

/// One of those whose calls are read together.
@Model
final class Harbour {
  var name: String
  @Relationship(inverse: \Call.harbour) var calls: [Call] = []

  init(_ name: String) { self.name = name }
}

@Model
final class Call {
  var ship: String
  var tonnage: Int
  var harbour: Harbour?

  init(_ ship: String, tonnage: Int) {
    self.ship = ship
    self.tonnage = tonnage
  }
}

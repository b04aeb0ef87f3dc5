import Workloads

/// The same record as a class without a store or observation: the floor of the cost of an object.
final class PlainTrip {
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

extension PlainTrip: TripAttributes {}

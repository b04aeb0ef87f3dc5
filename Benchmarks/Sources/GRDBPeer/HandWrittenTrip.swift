#if GRDB
import GRDB
import Workloads

/// The record as GRDB's documentation recommends where speed matters: columns by position, by hand.
struct HandWrittenTrip: FetchableRecord, PersistableRecord, TripAttributes {
  static let databaseTableName = "trip"

  var id: Int64?
  var name: String
  var destination: String
  var startDate: Double
  var endDate: Double
  var rating: Int64
  var isFavorite: Bool
  var note: String
  var tag: String?

  init(_ record: TripRecord) {
    id = nil
    name = record.name
    destination = record.destination
    startDate = record.startDate
    endDate = record.endDate
    rating = record.rating
    isFavorite = record.isFavorite
    note = record.note
    tag = record.tag
  }

  init(row: Row) {
    id = row[0]
    name = row[1]
    destination = row[2]
    startDate = row[3]
    endDate = row[4]
    rating = row[5]
    isFavorite = row[6]
    note = row[7]
    tag = row[8]
  }

  func encode(to container: inout PersistenceContainer) {
    container["id"] = id
    container["name"] = name
    container["destination"] = destination
    container["startDate"] = startDate
    container["endDate"] = endDate
    container["rating"] = rating
    container["isFavorite"] = isFavorite
    container["note"] = note
    container["tag"] = tag
  }
}

/// Two columns of the record, by hand.
struct HandWrittenPair: FetchableRecord {
  var destination: String
  var rating: Int64

  init(row: Row) {
    destination = row[0]
    rating = row[1]
  }
}
#endif

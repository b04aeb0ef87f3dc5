#if GRDB
import GRDB
import Workloads

/// The record as GRDB's documentation begins: Codable does the columns.
struct CodableTrip: Codable, FetchableRecord, PersistableRecord, TripAttributes {
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
}

/// Two columns of the record, for who needs no more.
struct CodablePair: Codable, FetchableRecord {
  var destination: String
  var rating: Int64
}
#endif

public import SwiftData
public import Workloads

/// The workload's record as a model.
@Model
final public class Trip {
  public var name: String
  public var destination: String
  public var startDate: Double
  public var endDate: Double
  public var rating: Int64
  public var isFavorite: Bool
  public var note: String
  public var tag: String?

  public init(_ record: TripRecord) {
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

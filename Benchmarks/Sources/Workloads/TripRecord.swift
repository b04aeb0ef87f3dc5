/// The record every contender stores: eight attributes, 172 bytes on average when written plainly.
public struct TripRecord: Sendable, Hashable {
  /// The key; not one of the eight.
  public var id: UInt64
  /// 24 bytes on average, different in nearly all records.
  public var name: String
  /// One of 256 places, 13 bytes on average.
  public var destination: String
  /// Seconds since 2001, in whole minutes.
  public var startDate: Double
  public var endDate: Double
  /// 1 to 5.
  public var rating: Int64
  public var isFavorite: Bool
  /// 100 bytes on average of words from a vocabulary of 2,048.
  public var note: String
  /// Seven bytes in half of the records.
  public var tag: String?

  public init(
    id: UInt64,
    name: String,
    destination: String,
    startDate: Double,
    endDate: Double,
    rating: Int64,
    isFavorite: Bool,
    note: String,
    tag: String?
  ) {
    self.id = id
    self.name = name
    self.destination = destination
    self.startDate = startDate
    self.endDate = endDate
    self.rating = rating
    self.isFavorite = isFavorite
    self.note = note
    self.tag = tag
  }
}

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

  /// The bytes of the attributes, written one behind the other with a length before each text.
  public var plainByteCount: Int {
    8 + 8 + 8 + 1 + name.utf8.count + destination.utf8.count + note.utf8.count
      + (tag?.utf8.count ?? 0) + 4
  }
}

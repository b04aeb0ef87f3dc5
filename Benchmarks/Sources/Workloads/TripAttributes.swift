/// The eight attributes, in whatever a contender keeps them.
public protocol TripAttributes {
  var name: String { get }
  var destination: String { get }
  var startDate: Double { get }
  var endDate: Double { get }
  var rating: Int64 { get }
  var isFavorite: Bool { get }
  var note: String { get }
  var tag: String? { get }
}

extension TripRecord: TripAttributes {}

extension TripAttributes {
  /// A number every attribute has a part in, so that none can be left unread, and what was read can be
  /// held against what was written.
  @inlinable public var checksum: Int {
    let texts = name.utf8.count + destination.utf8.count + note.utf8.count + (tag?.utf8.count ?? 0)
    return texts + Int(startDate) + Int(endDate) + Int(rating) + (isFavorite ? 1 : 0)
  }
}

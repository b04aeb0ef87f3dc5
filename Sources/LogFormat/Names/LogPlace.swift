/// A place between two frames of the log, and all that is needed to go on reading there.
struct LogPlace: Hashable, Sendable {
  var segment: SegmentID
  /// The offset in the segment.
  var offset: Int
  /// The offset of the frame that ends here; 0 where a segment begins.
  var frame: Int
  /// That frame's header checksum.
  var chain: UInt32
  /// The last commit before this place.
  var sequence: UInt64
  /// The place, counted over all segments.
  var logPosition: UInt64
}

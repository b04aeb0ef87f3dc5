/// A place between two frames of the log, with everything needed to continue reading there.
@usableFromInline package struct LogPlace: Hashable, Sendable {
  @usableFromInline package var segment: SegmentID
  /// The offset in the segment.
  @usableFromInline package var offset: Int
  /// The offset of the frame that ends here; 0 at the beginning of a segment.
  @usableFromInline package var frame: Int
  /// The header checksum of that frame.
  @usableFromInline package var chain: UInt32
  /// The last commit before this place.
  @usableFromInline package var sequence: UInt64
  /// The place, counted over all segments.
  @usableFromInline package var logPosition: UInt64

  @inlinable package init(
    segment: SegmentID,
    offset: Int,
    frame: Int,
    chain: UInt32,
    sequence: UInt64,
    logPosition: UInt64
  ) {
    self.segment = segment
    self.offset = offset
    self.frame = frame
    self.chain = chain
    self.sequence = sequence
    self.logPosition = logPosition
  }
}

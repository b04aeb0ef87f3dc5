/// The number of a segment, from 1; never reused, so that a stale location cannot lead to a new file.
public struct SegmentID: RawRepresentable, Hashable, Comparable, Sendable {
  public let rawValue: UInt32

  @inlinable public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// The greatest number, since a location has 22 bits for it.
  @inlinable package static var maximum: SegmentID { SegmentID(rawValue: 1 << 22 - 1) }
  /// No segment: the predecessor of the first.
  @inlinable package static var none: SegmentID { SegmentID(rawValue: 0) }

  @inlinable package var next: SegmentID { SegmentID(rawValue: rawValue + 1) }

  @inlinable public static func < (lhs: SegmentID, rhs: SegmentID) -> Bool {
    lhs.rawValue < rhs.rawValue
  }
}

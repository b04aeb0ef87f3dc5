/// The number of a segment, from 1; never reused, so that a stale location cannot lead to a new file.
public struct SegmentID: RawRepresentable, Hashable, Comparable, Sendable {
  public let rawValue: UInt32

  @inlinable public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// The greatest number: a location has 22 bits for it.
  @inlinable package static var maximum: SegmentID { SegmentID(rawValue: 1 << 22 - 1) }
  /// The next number of a store that has used up all file numbers.
  @inlinable package static var spent: SegmentID { SegmentID(rawValue: 1 << 22) }
  /// No segment: the predecessor of the first.
  @inlinable package static var none: SegmentID { SegmentID(rawValue: 0) }

  /// Creates the lowest unused file number from a file's value, clamped to ``spent``.
  @inlinable package init(clampingNext rawValue: UInt32) {
    self.init(rawValue: min(rawValue, SegmentID.spent.rawValue))
  }

  @inlinable package var next: SegmentID { SegmentID(rawValue: rawValue + 1) }

  @inlinable public static func < (lhs: SegmentID, rhs: SegmentID) -> Bool {
    lhs.rawValue < rhs.rawValue
  }
}

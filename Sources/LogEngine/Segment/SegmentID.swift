/// The number of one file of the log, from 1; never reused, so that a stale location cannot find a
/// new file.
struct SegmentID: RawRepresentable, Hashable, Comparable, Sendable {
  let rawValue: UInt32

  /// A location has 22 bits for it.
  static let maximum = SegmentID(rawValue: 1 << 22 - 1)
  /// No segment: the predecessor of the first.
  static let none = SegmentID(rawValue: 0)

  var next: SegmentID { SegmentID(rawValue: rawValue + 1) }

  static func < (lhs: SegmentID, rhs: SegmentID) -> Bool { lhs.rawValue < rhs.rawValue }
}

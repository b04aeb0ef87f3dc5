/// The demand of recent commits on the segments to come.
///
/// It reads no clock: the caller passes the time, which may jump.
struct SegmentDemand: Sendable {
  /// The largest commits in the current segment and in the one before.
  private var largestCommits = (current: 0, previous: 0)
  /// The time at which the current segment was begun, in microseconds.
  private var begun: Int64?
  /// Whether the previous segment was filled so fast that the next may not be ready in time.
  private(set) var isFast = false

  /// The minimum number of commits in a segment, as far as the largest segment's size allows.
  static let commitsPerSegment: UInt64 = 4
  /// The growth of the log, in bytes per second, above which it is filled about as fast as zeros are written.
  static let fastRate = 32.0 * 1_048_576

  /// Records a commit.
  mutating func record(commitOf byteCount: Int) {
    if byteCount > largestCommits.current { largestCommits.current = byteCount }
  }

  /// Records the beginning of a segment, and the bytes written to the one before.
  mutating func begin(after byteCount: Int, at now: Int64) {
    let (elapsed, isBeyond) = now.subtractingReportingOverflow(begun ?? now)
    isFast =
      elapsed > 0 && !isBeyond && Double(byteCount) * 1_000_000 / Double(elapsed) >= Self.fastRate
    begun = now
    largestCommits = (0, largestCommits.current)
  }

  /// The minimum log size, in bytes, from which the size of the next segment is derived.
  var sizeBasis: UInt64 {
    2 * Self.commitsPerSegment * UInt64(max(largestCommits.current, largestCommits.previous))
  }

  /// Returns the offset in a segment at which the next one is to be prepared.
  func preparationOffset(in capacity: Int) -> Int { isFast ? 0 : capacity / 2 }
}

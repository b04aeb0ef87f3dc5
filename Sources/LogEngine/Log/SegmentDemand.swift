/// What recent commits tell of the segments to come.
///
/// It reads no clock: the time is given to it, and may jump.
struct SegmentDemand: Sendable {
  /// The largest commit in the segment that is written, and in the one before.
  private var largestCommits = (current: 0, previous: 0)
  /// When the segment that is written was begun, in microseconds.
  private var begun: Int64?
  /// Whether the one before was filled so fast that the next may not be ready in time.
  private(set) var isFast = false

  /// How many commits a segment is to hold at least, as far as the largest segment's size allows.
  static let commitsPerSegment: UInt64 = 4
  /// A log that grows faster than this, in bytes per second, is filled about as fast as zeros are written.
  static let fastRate = 32.0 * 1_048_576

  /// Records a commit.
  mutating func record(commitOf byteCount: Int) {
    if byteCount > largestCommits.current { largestCommits.current = byteCount }
  }

  /// Records a segment that is begun, and of how much was written to the one before.
  mutating func begin(after byteCount: Int, at now: Int64) {
    let (elapsed, isBeyond) = now.subtractingReportingOverflow(begun ?? now)
    isFast =
      elapsed > 0 && !isBeyond && Double(byteCount) * 1_000_000 / Double(elapsed) >= Self.fastRate
    begun = now
    largestCommits = (0, largestCommits.current)
  }

  /// What the size of the next segment is measured by, at least.
  var sizeBasis: UInt64 {
    2 * Self.commitsPerSegment * UInt64(max(largestCommits.current, largestCommits.previous))
  }

  /// The offset in a segment from which on the next one is made ready.
  func preparationOffset(in capacity: Int) -> Int { isFast ? 0 : capacity / 2 }
}

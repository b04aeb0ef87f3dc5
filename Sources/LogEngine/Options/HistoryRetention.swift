/// How much of the log stays although it could be packed: the log is the history of the store.
///
/// Kept are whole segments, the newest first, for as long as *both* limits hold. What is kept can be read
/// commit by commit, with ``StorageEngine/forEachCommit(after:upTo:order:_:)`` and
/// ``StorageEngine/history(of:)``; of what was packed only the rows are left, and a request for its
/// commits throws ``/LogFormat/StorageError/commitGone(_:oldest:)``. Bytes of history count neither as live
/// nor as dead: a store of many segments that compaction keeps up with takes about 1.4 times what is live in it, and its
/// history; under a load of replacements up to twice.
///
/// What is kept are the changes, not every state between them: an earlier state is there to be read as
/// long as a ``ReadView`` holds it. And values in side files are not kept beyond their rows.
public struct HistoryRetention: Sendable, Hashable {
  /// For how long a segment stays after its last commit, by the time of day; without a limit if `nil`.
  public var age: Duration?
  /// How many bytes of segments stay; without a limit if `nil`.
  public var byteCount: Int?

  /// Makes a retention.
  ///
  /// - Parameters:
  ///   - age: For how long segments stay; without a limit if `nil`.
  ///   - byteCount: How many bytes of them stay; without a limit if `nil`.
  public init(age: Duration? = nil, byteCount: Int? = nil) {
    self.age = age
    self.byteCount = byteCount
  }

  /// Everything that can be packed may be.
  public static let nothing = HistoryRetention(byteCount: 0)
  /// The last 30 days, but not more than 32 MiB.
  public static let standard = HistoryRetention(age: .seconds(30 * 86_400), byteCount: 32 << 20)
  /// Nothing is ever packed.
  public static let everything = HistoryRetention()
}

extension HistoryRetention {
  /// A sealed segment as the retention sees it.
  struct Segment: Hashable {
    /// When it was ended, in microseconds.
    var ended: Int64
    var byteCount: Int
  }

  /// Counts the segments that do not have to stay, from the oldest on.
  ///
  /// - Parameters:
  ///   - segments: The sealed ones, oldest first.
  ///   - now: The time, in microseconds; it may have jumped since segments were ended.
  /// - Returns: How many may be packed.
  func packableCount(of segments: [Segment], at now: Int64) -> Int {
    var kept = 0
    var sum = 0
    for segment in segments.reversed() {
      sum = sum.addingReportingOverflow(segment.byteCount).partialValue
      if let byteCount, sum > byteCount { break }
      let (elapsed, isBeyond) = now.subtractingReportingOverflow(segment.ended)
      if let age, !isBeyond, elapsed > age.microseconds { break }
      kept += 1
    }
    return segments.count - kept
  }
}

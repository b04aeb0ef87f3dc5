/// The part of the log that stays although it could be packed: the log is the history of the store.
///
/// Whole segments are kept, the newest first, for as long as *both* limits hold. Kept segments can be read commit by commit,
/// with ``StorageEngine/forEachCommit(after:upTo:order:_:)`` and ``StorageEngine/history(of:)``; of packed segments only the
/// rows are left, and a request for their commits throws ``/LogFormat/StorageError/commitGone(_:oldest:)``. Bytes of history
/// count neither as live nor as dead: a store of many segments that compaction keeps up with takes about 1.4 times the size of
/// its live rows, plus its history; under a load of replacements up to twice.
///
/// The changes are kept, not every state between them: an earlier state can be read as long as a ``ReadView`` holds it. Values
/// in side files are not kept beyond their rows.
public struct HistoryRetention: Sendable, Hashable {
  /// The time for which a segment stays after its last commit, by the time of day; no limit if `nil`.
  public var age: Duration?
  /// The total size of the segments that stay, in bytes; no limit if `nil`.
  public var byteCount: Int?

  /// Creates a retention.
  ///
  /// - Parameters:
  ///   - age: The time for which segments stay; no limit if `nil`.
  ///   - byteCount: The total size of the segments that stay, in bytes; no limit if `nil`.
  public init(age: Duration? = nil, byteCount: Int? = nil) {
    self.age = age
    self.byteCount = byteCount
  }

  /// Everything that can be packed may be packed.
  public static let nothing = HistoryRetention(byteCount: 0)
  /// The last 30 days, but not more than 32 MiB.
  public static let standard = HistoryRetention(age: .seconds(30 * 86_400), byteCount: 32 << 20)
  /// Nothing is ever packed.
  public static let everything = HistoryRetention()
}

extension HistoryRetention {
  /// A sealed segment as the retention sees it.
  struct Segment: Hashable {
    /// The time at which the segment was ended, in microseconds.
    var ended: Int64
    var byteCount: Int
  }

  /// Counts the segments that do not have to stay, from the oldest on.
  ///
  /// - Parameters:
  ///   - segments: The sealed segments, oldest first.
  ///   - now: The time, in microseconds; it may have jumped since segments were ended.
  /// - Returns: The number of segments that may be packed.
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

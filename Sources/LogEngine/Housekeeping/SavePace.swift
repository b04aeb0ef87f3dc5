/// How far commits are held back while compaction goes as fast as it can and is late all the same.
///
/// The last resort: first compaction is given more and more time, until nothing holds it back. If it falls
/// behind further, commits wait for a moment each, in proportion to their bytes: little at first, and
/// longer the later compaction is, until both are in balance. No commit waits longer than a bound, so one
/// who writes megabytes at a time is slowed down and not stopped.
///
/// It reads no clock: the time is given to it, and may jump.
package struct SavePace: Hashable, Sendable {
  /// How late compaction is when commits begin to be held back: by then nothing holds it back any more.
  package var latenesses = 1.5...3.0
  /// The rate of commits at the two ends, in bytes of the log per second.
  package var rates = (Double(1 << 20))...(Double(64 << 20))
  /// Shorter waits are saved up, in microseconds: to sleep costs more than they are worth.
  package var shortestDelay: Int64 = 1000
  /// No single commit waits longer, in microseconds; 0 for not at all.
  package var longestDelay: Int64
  /// Until when commits that were made have taken their time.
  private var readyAt: Int64 = .min

  package init(longestDelay: Duration = .zero) {
    self.longestDelay = max(0, longestDelay.microseconds)
  }

  /// The rate at a lateness.
  ///
  /// - Parameter lateness: As of ``CompactionPolicy/lateness(of:)``.
  /// - Returns: Bytes of the log per second; `nil` if commits are not held back.
  package func rate(at lateness: Double) -> Double? {
    guard longestDelay > 0, lateness > latenesses.lowerBound else { return nil }
    let share =
      (lateness - latenesses.lowerBound) / (latenesses.upperBound - latenesses.lowerBound)
    return rates.upperBound * rootPower(rates.lowerBound / rates.upperBound, share)
  }

  /// Records a commit.
  ///
  /// - Parameters:
  ///   - byteCount: Its bytes in the log.
  ///   - rate: The rate there is.
  ///   - now: The time.
  /// - Returns: How many microseconds it has to wait.
  package mutating func delay(of byteCount: Int, at rate: Double, _ now: Int64) -> Int {
    // What was not used is not made up for, and a clock that jumped back must not keep commits waiting.
    let (ahead, isBeyond) = readyAt.subtractingReportingOverflow(now)
    let owed = isBeyond ? 0 : min(max(ahead, 0), longestDelay)
    let share = min(Double(byteCount) / rate * 1_000_000, Double(longestDelay))
    let wait = min(owed + Int64(share), longestDelay)
    readyAt = now.addingReportingOverflow(wait).partialValue
    return wait >= shortestDelay ? Int(wait) : 0
  }
}

/// `base` to a power between 0 and 1, to a few percent: without a mathematics library.
func rootPower(_ base: Double, _ exponent: Double) -> Double {
  var result = 1.0
  var root = base
  var rest = min(max(exponent, 0), 1)
  if rest == 1 { return base }
  for _ in 0..<12 {
    root = root.squareRoot()
    rest *= 2
    if rest >= 1 {
      result *= root
      rest -= 1
    }
  }
  return result
}

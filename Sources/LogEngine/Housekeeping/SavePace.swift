/// Write stalls: the delays of commits while compaction runs at full speed and still falls behind.
///
/// The last resort. Compaction first gets more and more time, until nothing throttles it. If it falls further behind,
/// each commit waits for a moment, in proportion to its bytes: briefly at first, and longer the further compaction is
/// behind, until both are in balance. No commit waits longer than a bound, so a writer of megabytes is slowed down and
/// never stopped.
///
/// It reads no clock: the caller passes the time, which may jump.
package struct SavePace: Hashable, Sendable {
  /// The back-pressure at which commits begin to wait, and at which they wait longest; compaction is unthrottled by then.
  package var backPressures = 1.5...3.0
  /// The rate of commits at the two ends, in bytes of the log per second.
  package var rates = (Double(1 << 20))...(Double(64 << 20))
  /// Shorter waits accumulate, in microseconds: a sleep would cost more than it gains.
  package var shortestDelay: Int64 = 1000
  /// The longest wait of a single commit, in microseconds; 0 turns write stalls off.
  package var longestDelay: Int64
  /// The time at which the waits of all commits so far are over.
  private var readyAt: Int64 = .min

  package init(longestDelay: Duration = .zero) {
    self.longestDelay = max(0, longestDelay.microseconds)
  }

  /// Returns the rate of commits at a back-pressure.
  ///
  /// - Parameter backPressure: The result of ``CompactionPolicy/backPressure(of:)``.
  /// - Returns: Bytes of the log per second; `nil` if commits do not wait.
  package func rate(at backPressure: Double) -> Double? {
    guard longestDelay > 0, backPressure > backPressures.lowerBound else { return nil }
    let share =
      (backPressure - backPressures.lowerBound)
      / (backPressures.upperBound - backPressures.lowerBound)
    return rates.upperBound * rootPower(rates.lowerBound / rates.upperBound, share)
  }

  /// Records a commit.
  ///
  /// - Parameters:
  ///   - byteCount: The commit's bytes in the log.
  ///   - rate: The current rate, in bytes per second.
  ///   - now: The time, in microseconds.
  /// - Returns: The commit's wait, in microseconds.
  package mutating func delay(of byteCount: Int, at rate: Double, _ now: Int64) -> Int {
    // Unused time is not carried over, and a clock that jumped back must not keep commits waiting.
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

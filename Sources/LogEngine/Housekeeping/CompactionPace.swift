/// The rate of a background compaction: the further it is behind, the faster it goes.
///
/// A compaction that has just become due runs slowly, so that commits do not feel it. If commits add work faster than
/// that, the pressure rises, and the rate with it, until both are in balance; a compaction whose pressure is half above
/// its bound is not throttled at all.
///
/// It reads no clock: the caller passes the time, which may jump.
package struct CompactionPace: Hashable, Sendable {
  /// The rate of a compaction that has just become due, in bytes of rows per second.
  package var lowestRate = Double(16 << 20)
  /// The rate above which a compaction is not throttled.
  package var highestRate = Double(1 << 30)
  /// The pressure at which that rate is reached.
  package var latePressure = 1.5
  /// The longest single wait, in microseconds, even if the clock jumps.
  package var longestDelay: Int64 = 1_000_000
  /// The earliest time for the next step, in microseconds.
  private var readyAt: Int64 = .min

  package init() {}

  /// Returns the rate at a pressure.
  ///
  /// - Parameter pressure: The result of ``CompactionPolicy/pressure(of:_:)``.
  /// - Returns: Bytes of rows per second; `nil` for no limit.
  package func rate(at pressure: Double) -> Double? {
    guard pressure < latePressure else { return nil }
    let backlog = max(0, pressure - 1) / (latePressure - 1)
    return lowestRate * rootPower(highestRate / lowestRate, backlog)
  }

  /// Records a step.
  ///
  /// - Parameters:
  ///   - byteCount: The bytes of rows that the step packed.
  ///   - pressure: The pressure at its end.
  ///   - now: The time at its end, in microseconds.
  package mutating func record(_ byteCount: Int, at pressure: Double, _ now: Int64) {
    guard let rate = rate(at: pressure) else {
      readyAt = now
      return
    }
    let wait = Int64(Double(byteCount) / rate * 1_000_000)
    // A late step does not carry its unused time over: no bursts.
    readyAt = max(readyAt, now - 20_000) + min(wait, longestDelay)
  }

  /// Returns the wait before the next step, in microseconds.
  package mutating func delay(_ now: Int64) -> Int {
    readyAt = min(max(readyAt, now), now + longestDelay)
    return Int(readyAt - now)
  }
}

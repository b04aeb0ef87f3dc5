/// How fast a compaction in the background goes: the later it is, the faster.
///
/// A compaction that has just become due may take its time, and commits do not feel it. If they bring
/// new work faster than that, the pressure rises, and the rate with it, until both are in balance; a
/// compaction that is late by half its bound is not held back at all.
///
/// It reads no clock: the time is given to it, and may jump.
package struct CompactionPace: Hashable, Sendable {
  /// The rate of a compaction that is not late, in bytes of rows per second.
  package var lowestRate = Double(16 << 20)
  /// The rate beyond which nothing is held back.
  package var highestRate = Double(1 << 30)
  /// The pressure at which that is reached.
  package var latePressure = 1.5
  /// No single wait is longer, whatever the clock does.
  package var longestDelay: Int64 = 1_000_000
  /// When the next step may be done, in microseconds.
  private var readyAt: Int64 = .min

  package init() {}

  /// The rate at a pressure.
  ///
  /// - Parameter pressure: As of ``CompactionPolicy/pressure(of:_:)``.
  /// - Returns: Bytes of rows per second; `nil` for as fast as it goes.
  package func rate(at pressure: Double) -> Double? {
    guard pressure < latePressure else { return nil }
    let lateness = max(0, pressure - 1) / (latePressure - 1)
    return lowestRate * rootPower(highestRate / lowestRate, lateness)
  }

  /// Records a step that was done.
  ///
  /// - Parameters:
  ///   - byteCount: How many bytes of rows it was.
  ///   - pressure: The pressure then.
  ///   - now: The time at its end.
  package mutating func record(_ byteCount: Int, at pressure: Double, _ now: Int64) {
    guard let rate = rate(at: pressure) else {
      readyAt = now
      return
    }
    let wait = Int64(Double(byteCount) / rate * 1_000_000)
    // What a late step did not use is not made up for: no bursts.
    readyAt = max(readyAt, now - 20_000) + min(wait, longestDelay)
  }

  /// How long to wait before the next step, in microseconds.
  package mutating func delay(_ now: Int64) -> Int {
    readyAt = min(max(readyAt, now), now + longestDelay)
    return Int(readyAt - now)
  }
}

package import Foundation

/// The clocks by which rows expire.
package struct ExpirationClock: Sendable {
  /// The time of day: dates of rows are compared with it.
  package var now: @Sendable () -> Date = { .now }
  /// Microseconds of a clock that is never set: waits go by it.
  package var uptime: @Sendable () -> Int = {
    let (seconds, attoseconds) = start.duration(to: .now).components
    return Int(seconds) * 1_000_000 + Int(attoseconds / 1_000_000_000_000)
  }
  private static let start = SuspendingClock.now

  package init() {}
}

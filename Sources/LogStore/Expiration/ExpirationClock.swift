package import Foundation
import LogEngine

/// The clocks by which rows expire.
package struct ExpirationClock: Sendable {
  /// The time of day: dates of rows are compared with it.
  package var now: @Sendable () -> Date = { .now }
  /// Microseconds of a clock that is never set: waits go by it.
  package var uptime: @Sendable () -> Int = { start.duration(to: .now).waitMicroseconds }
  private static let start = SuspendingClock.now

  package init() {}
}

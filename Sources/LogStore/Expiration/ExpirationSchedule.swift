import LogEngine

/// The times at which a store looks for expired rows.
///
/// The waits are monotonic. The schedule reads no clock: the caller passes the time.
struct ExpirationSchedule: Sendable {
  /// The longest wait before the first look, in microseconds: long enough to let a program start.
  static let firstDelay = 1_000_000
  /// The shortest interval, in microseconds, that a configuration may ask for.
  static let shortestInterval = 10_000
  /// The pause after a pass, as a multiple of its fruitless work: a store without an index on its dates, or in which a
  /// delete rule keeps many rows, spends at most a hundredth of a processor on that.
  static let fruitlessFactor = 100
  /// The shortest pause between two batches, in microseconds.
  static let shortestPause = 1000

  /// The interval between a pass and the next, in microseconds.
  let interval: Int
  /// The time at which the next step is due, in microseconds.
  private var dueAt: Int

  init(interval: Duration, _ now: Int) {
    self.interval = max(Self.shortestInterval, interval.waitMicroseconds)
    dueAt = now + min(self.interval, Self.firstDelay)
  }

  func isDue(_ now: Int) -> Bool { now >= dueAt }

  /// The wait until the next step, in microseconds.
  func delay(_ now: Int) -> Int { max(0, dueAt - now) }

  /// Records a batch of deletes: the next one waits for as long as this one took, so that saves beside it have the log
  /// at least half of the time.
  mutating func batchEnded(took duration: Int, _ now: Int) {
    dueAt = now + max(Self.shortestPause, duration)
  }

  /// Records the end of a pass.
  ///
  /// - Parameters:
  ///   - duration: The time spent on looking for rows, and on trying to delete rows that stay.
  ///   - now: The time, in microseconds.
  mutating func passEnded(fruitless duration: Duration, _ now: Int) {
    dueAt = now + max(interval, duration.waitMicroseconds * Self.fruitlessFactor)
  }
}

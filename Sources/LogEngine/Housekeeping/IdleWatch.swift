/// Tells when no commit has come for so long that nothing else is to be expected.
///
/// It says so once for each time the store comes to rest: a store at rest is not checked again. It reads
/// no clock: the time is given to it, and may jump.
struct IdleWatch: Sendable {
  /// The minimum interval between two checks, in microseconds.
  private static let shortestWait: Int64 = 100_000
  /// For how many microseconds no commit must have come; `nil` if that does not count.
  let delay: Int64?
  /// The newest commit at the last check.
  private var sequence: UInt64 = 0
  /// When it was first seen to be the newest.
  private var since: Int64 = 0
  /// Whether there is nothing left to be said.
  private var isSettled = true

  init(delay: Duration?) { self.delay = delay.map { max(0, $0.microseconds) } }

  /// Looks whether the store has just come to rest.
  ///
  /// - Parameters:
  ///   - sequence: The newest commit.
  ///   - now: The time, in microseconds.
  /// - Returns: Whether the delay is over since that commit; once.
  mutating func look(at sequence: UInt64, _ now: Int64) -> Bool {
    guard let delay else { return false }
    if sequence != self.sequence {
      self.sequence = sequence
      since = now
      isSettled = false
      return false
    }
    if isSettled { return false }
    // A clock that jumped back begins anew.
    if now < since { since = now }
    isSettled = now.subtractingReportingOverflow(since).partialValue >= delay
    return isSettled
  }

  /// How long to wait before looking again, in microseconds; `nil` if there is nothing to be seen.
  func wait(_ now: Int64) -> Int? {
    guard let delay, !isSettled else { return nil }
    let (elapsed, isBeyond) = now.subtractingReportingOverflow(since)
    return Int(isBeyond || elapsed < 0 ? delay : max(Self.shortestWait, delay - elapsed))
  }
}

/// Detects that no commit has come for so long that the store counts as quiescent.
///
/// It reports each such period once; a quiescent store is not checked again. It reads no clock: the caller passes the
/// time, which may jump.
struct IdleWatch: Sendable {
  /// The minimum interval between two checks, in microseconds.
  private static let shortestWait: Int64 = 100_000
  /// The required time without a commit, in microseconds; `nil` turns the watch off.
  let delay: Int64?
  /// The newest commit at the last check.
  private var sequence: UInt64 = 0
  /// The time at which that commit was first seen.
  private var since: Int64 = 0
  /// Whether the current period was already reported.
  private var isSettled = true

  init(delay: Duration?) { self.delay = delay.map { max(0, $0.microseconds) } }

  /// Checks whether the store has just become quiescent.
  ///
  /// - Parameters:
  ///   - sequence: The newest commit.
  ///   - now: The time, in microseconds.
  /// - Returns: `true` once for each period, when the delay since its last commit is over.
  mutating func look(at sequence: UInt64, _ now: Int64) -> Bool {
    guard let delay else { return false }
    if sequence != self.sequence {
      self.sequence = sequence
      since = now
      isSettled = false
      return false
    }
    if isSettled { return false }
    // A clock that jumped back restarts the period.
    if now < since { since = now }
    isSettled = now.subtractingReportingOverflow(since).partialValue >= delay
    return isSettled
  }

  /// Returns the time until the next check, in microseconds; `nil` if none is needed.
  func wait(_ now: Int64) -> Int? {
    guard let delay, !isSettled else { return nil }
    let (elapsed, isBeyond) = now.subtractingReportingOverflow(since)
    return Int(isBeyond || elapsed < 0 ? delay : max(Self.shortestWait, delay - elapsed))
  }
}

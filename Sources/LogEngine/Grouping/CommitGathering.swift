import Synchronization

/// Decides how long a round of writes waits for the commits of other threads before it begins.
///
/// Threads whose commits were written a moment ago are waking up, which takes about as long as a fast disk takes to
/// synchronize, and then bring their next commits. A round that waits for them writes all of them; one that does not
/// writes the one commit of the thread that was awake, and the others wait for the round after it.
///
/// The number of commits expected is that of the last round plus those appended while it ran: the most that all committing
/// threads bring. After a round that waited in vain, no more are expected than it got.
final class CommitGathering: Sendable {
  /// Microseconds of a clock that is never set.
  private let now: @Sendable () -> Int
  private let expected = Atomic<UInt64>(0)
  /// The duration of the last round, in microseconds.
  private let duration = Atomic<Int>(0)

  /// The longest wait, in microseconds: more than a thread takes to wake up.
  ///
  /// On a slow disk, or after waiting for a checkpoint, a round may take far longer.
  static let longestWait = 1000

  init(now: @escaping @Sendable () -> Int = Monitor.now) { self.now = now }

  /// Runs a round once the expected commits have come, or their time is over.
  ///
  /// Must be called by one thread at a time.
  ///
  /// - Parameters:
  ///   - newest: The newest commit that was appended.
  ///   - visible: The newest commit that is visible.
  ///   - pause: Called again and again while the round waits.
  ///   - round: Writes the commits appended so far, and makes them visible.
  /// - Throws: Any error that `round` throws.
  func run(
    newest: () -> UInt64,
    visible: () -> UInt64,
    pause: () -> Void,
    _ round: () throws(StorageError) -> Void
  ) throws(StorageError) {
    let first = visible()
    let expected = self.expected.load(ordering: .relaxed)
    var start = now()
    var isInVain = false
    if expected > 1 {
      let end = start + min(duration.load(ordering: .relaxed), CommitGathering.longestWait)
      while newest() &- first < expected {
        isInVain = start >= end
        if isInVain { break }
        pause()
        start = now()
      }
    }
    try round()
    duration.store(now() - start, ordering: .relaxed)
    self.expected.store((isInVain ? visible() : newest()) &- first, ordering: .relaxed)
  }
}

import Synchronization

/// Decides how long a round of writes waits for the commits of other threads before it begins.
///
/// Threads whose commits were written a moment ago are waking up, which takes about as long as a fast disk takes to
/// synchronize, and then bring their next commits. A round that waits for them writes all of them; one that does not
/// writes the one commit of the thread that was awake, and the others wait for the round after it.
///
/// As many commits are expected as the last round wrote and others appended while it ran: what all threads that commit
/// at present bring at most. A round that waited in vain expects no more than it got.
final class CommitGathering: Sendable {
  /// Microseconds of a clock that is never set.
  private let now: @Sendable () -> Int
  private let expected = Atomic<UInt64>(0)
  /// How long the last round took, in microseconds.
  private let duration = Atomic<Int>(0)

  /// The longest wait, in microseconds: more than a thread takes to wake up.
  ///
  /// Where the disk is slow, or the last round waited for a checkpoint, a round may take far longer.
  static let longestWait = 1000

  /// Whether the last round took longer than a thread takes to wake up.
  var takesLong: Bool { duration.load(ordering: .relaxed) > CommitGathering.longestWait }

  init(now: @escaping @Sendable () -> Int = Monitor.now) { self.now = now }

  /// Runs a round once the commits that are expected have come, or their time is over.
  ///
  /// For one thread at a time.
  ///
  /// - Parameters:
  ///   - newest: The newest commit that was appended.
  ///   - visible: The newest commit that is visible.
  ///   - pause: Called again and again while the round waits.
  ///   - round: Writes what was appended so far, and makes it visible.
  /// - Throws: What `round` throws.
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

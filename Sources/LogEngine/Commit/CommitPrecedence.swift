import LibC
import Synchronization

/// Lets a commit that others keep overtaking go first.
///
/// A commit is encoded again if another one has changed one of its rows meanwhile. A large commit could lose to small ones for
/// ever: each takes a moment, and the large one begins anew. So after a few attempts it takes precedence, and commits that
/// begin then wait until it is made. Those that are under way end, so that it is overtaken a few more times at most.
///
/// Nothing is right only because a thread waits here, and none waits for long: one that holds what the other needs would
/// otherwise wait for ever.
final class CommitPrecedence: @unchecked Sendable {
  /// The number of attempts after which a commit takes precedence.
  static let attemptLimit = 3
  /// The longest wait of a commit for another one, in microseconds.
  private static let longestWait = 10_000_000

  private let monitor = Monitor()
  private let holderCount = Atomic<Int>(0)
  /// By thread, the number of times that it has taken precedence.
  @safe @exclusivity(unchecked) private var holders: [UInt: Int] = [:]
  @safe @exclusivity(unchecked) private var waiting = 0

  /// Number of threads that wait for another one's commit.
  var waitingCount: Int { monitor.withMutex { waiting } }

  /// Waits while another thread has precedence, unless the calling thread has it, too.
  func giveWay() {
    if holderCount.load(ordering: .acquiring) == 0 { return }
    let thread = Thread.current
    monitor.withMutex {
      waiting += 1
      let deadline = Monitor.now() + Self.longestWait
      while !holders.isEmpty, holders[thread] == nil,
        monitor.wait(for: .end, atMost: deadline - Monitor.now())
      {}
      waiting -= 1
    }
  }

  /// Gives the calling thread precedence, until it has called ``end()`` as often as this.
  func take() {
    monitor.withMutex {
      holders[Thread.current, default: 0] += 1
      holderCount.store(holders.count, ordering: .releasing)
    }
  }

  func end() {
    let thread = Thread.current
    monitor.withMutex {
      guard let count = holders[thread] else {
        preconditionFailure("a thread ends a precedence that it has not")
      }
      holders[thread] = count > 1 ? count - 1 : nil
      holderCount.store(holders.count, ordering: .releasing)
      monitor.broadcast(.end)
    }
  }
}

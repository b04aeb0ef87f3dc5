import Locking
import LogFormat

/// Lets one thread at a time write for all waiting threads, and wakes them together.
///
/// A thread that ends a round continues at once, and may begin the next one. With a lock instead, the other threads would get
/// it too late every time, only to see that their commits had been written: locks are not fair, and a round takes as long as
/// the disk.
final class WriteRounds: Sendable {
  private struct State {
    var isRunning = false
    var waiters: [Waiter] = []
    /// Waiters for reuse.
    var spares: [Waiter] = []
  }

  /// A waiting thread; each has a condition of its own, since threads waiting for one condition wake one after the other.
  private final class Waiter: @unchecked Sendable {
    private let monitor = Monitor()
    private var isAwake = false

    func wait() {
      monitor.withMutex {
        while !isAwake { monitor.wait(for: .end) }
        isAwake = false
      }
    }

    func wake() {
      monitor.withMutex {
        isAwake = true
        monitor.signal(.end)
      }
    }
  }

  private let state = Lock(State(), .writeRounds)

  /// The number of threads waiting for the round to end.
  var waiterCount: Int { state.withLock { $0.waiters.count } }

  /// Runs a round, unless another thread is running one: then waits for that to end.
  ///
  /// - Parameters:
  ///   - isDone: Whether nothing is left to write for this thread: since it last looked, one round may have ended and another
  ///     begun, for which it does not wait.
  ///   - round: Writes the commits appended so far.
  /// - Returns: Whether this thread ran the round. If not, its commit may or may not have been written.
  /// - Throws: Any error that `round` throws.
  func run(
    unless isDone: () -> Bool = { false },
    _ round: () throws(StorageError) -> Void
  ) throws(StorageError) -> Bool {
    let step = state.withLock { state -> Step in
      guard state.isRunning else {
        state.isRunning = true
        return .run
      }
      if isDone() { return .goOn }
      let waiter = state.spares.popLast() ?? Waiter()
      state.waiters.append(waiter)
      return .wait(waiter)
    }
    switch step {
    case .run:
      defer { end() }
      try round()
      return true
    case .goOn: return false
    case .wait(let waiter):
      waiter.wait()
      state.withLock { $0.spares.append(waiter) }
      return false
    }
  }

  private enum Step {
    case run
    case wait(Waiter)
    case goOn
  }

  /// Wakes all waiting threads: each whose commit was not written runs the next round, or waits for it.
  ///
  /// No thread sleeps without a running round. Commits become visible by checkpoints, too, and a thread that was to wake the
  /// next one might have nothing left to do.
  private func end() {
    let woken = state.withLock { state in
      state.isRunning = false
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in woken { waiter.wake() }
  }
}

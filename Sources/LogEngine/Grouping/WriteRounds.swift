import Locking
import LogFormat

/// Lets one thread at a time write for all threads that wait, and wakes them together.
///
/// A thread that ends a round goes on at once, and may begin the next one. Waiting for a lock instead, the others would get
/// it too late every time, and only to see that their commits had been written: locks are not fair, and a round takes as
/// long as the disk.
final class WriteRounds: Sendable {
  private struct State {
    var isRunning = false
    var waiters: [Waiter] = []
    /// Waiters that can be used again.
    var spares: [Waiter] = []
  }

  /// A thread that waits; each by itself, since threads that wait for one condition wake one after the other.
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

  /// How many threads wait for the round to end.
  var waiterCount: Int { state.withLock { $0.waiters.count } }

  /// Runs a round, unless another thread is running one: then waits until that has ended.
  ///
  /// - Parameters:
  ///   - isDone: Whether nothing is left to be written for this thread: an earlier round may have ended, and another one
  ///     begun, since it looked. Then it does not wait for that one.
  ///   - round: Writes what was appended so far.
  /// - Returns: Whether the round was run by this thread. If not, what it waits for may have been written or not.
  /// - Throws: What `round` throws.
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

  /// Wakes all threads that wait: whose commit was not written runs the next round, or waits for it.
  ///
  /// Nobody sleeps without a round that is running. Commits become visible by checkpoints, too, and a thread that was to wake
  /// the next one might have nothing left to do.
  private func end() {
    let woken = state.withLock { state in
      state.isRunning = false
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in woken { waiter.wake() }
  }
}

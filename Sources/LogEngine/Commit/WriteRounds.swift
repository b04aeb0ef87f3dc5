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
    /// What the thread waits for; guarded by the lock of the rounds.
    var sequence: UInt64 = 0

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

  /// Runs a round, unless another thread is running one: then waits until that has ended.
  ///
  /// - Parameters:
  ///   - sequence: The commit that the thread waits for.
  ///   - round: Writes what was appended so far.
  ///   - written: The last commit that was written, when a round has ended.
  /// - Returns: Whether the round was run by this thread. If not, the commit may have been written or not.
  /// - Throws: What `round` throws.
  func run(
    through sequence: UInt64,
    _ round: () throws(StorageError) -> Void,
    written: () -> UInt64
  ) throws(StorageError) -> Bool {
    let waiter = state.withLock { state -> Waiter? in
      guard state.isRunning else {
        state.isRunning = true
        return nil
      }
      let waiter = state.spares.popLast() ?? Waiter()
      waiter.sequence = sequence
      state.waiters.append(waiter)
      return waiter
    }
    guard let waiter else {
      defer { end(written()) }
      try round()
      return true
    }
    waiter.wait()
    state.withLock { $0.spares.append(waiter) }
    return false
  }

  /// Wakes the threads whose commits were written, and one more to run the next round, should this thread not return.
  private func end(_ written: UInt64) {
    let woken = state.withLock { state -> [Waiter] in
      state.isRunning = false
      if state.waiters.isEmpty { return [] }
      var woken: [Waiter] = []
      var others: [Waiter] = []
      for waiter in state.waiters {
        if waiter.sequence <= written { woken.append(waiter) } else { others.append(waiter) }
      }
      if !others.isEmpty { woken.insert(others.removeFirst(), at: 0) }
      state.waiters = others
      return woken
    }
    for waiter in woken { waiter.wake() }
  }
}

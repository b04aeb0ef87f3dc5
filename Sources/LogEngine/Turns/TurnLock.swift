import LogFormat

/// The lock of `TURN`, for which a process waits no longer than it is configured to.
///
/// The kernel waits for a lock without end, and a thread that asks again and again is late beside those that sleep for the
/// lock. So where there is a deadline, a thread of its own sleeps for the lock, and the one that wants it sleeps until it has
/// it or the deadline has passed. After the deadline the thread keeps waiting for the next caller; if there is
/// none when it gets the lock, it releases the lock. There is no such thread without a deadline, nor while nobody else has
/// the lock.
///
/// One thread of a process asks at a time.
final class TurnLock: @unchecked Sendable {
  private let lock: any LockableFile
  private let monitor = Monitor()
  @safe @exclusivity(unchecked) private var waiter = Waiter.none

  /// What the thread that waits for the lock does.
  private enum Waiter {
    case none
    case waiting(isWanted: Bool)
    /// It has ended, with the lock or without.
    case ended(Result<Void, StorageError>)
  }

  init(_ lock: any LockableFile) { self.lock = lock }

  /// Takes the lock if no other process has it.
  ///
  /// Not while the thread waits for it that was left by a deadline: the lock is the file's, so the thread would get what the
  /// caller has, and release it.
  func takeAtOnce() throws(StorageError) -> Bool {
    if hasWaiter { return false }
    return try lock.take(.exclusive, waits: false)
  }

  /// Takes the lock.
  ///
  /// - Parameter deadline: Until when to wait, by ``Monitor/now()``; `nil` waits without end. All calls have one, or none.
  /// - Returns: Whether it was taken before the deadline.
  /// - Throws: ``StorageError`` if the system cannot lock the file.
  func take(until deadline: Int?) throws(StorageError) -> Bool {
    guard let deadline else { return try lock.take(.exclusive, waits: true) }
    if try takeAtOnce() { return true }
    let start = monitor.withMutex { startWaiter() }
    if !start { return try ask(until: deadline) }
    guard let outcome = monitor.withMutex({ awaitOutcome(until: deadline) }) else { return false }
    try outcome.get()
    return true
  }

  /// Lets go of the lock.
  func release() { lock.release() }

  /// Whether the file still has a name; see ``/LogFormat/LockableFile/isNamed``.
  var isNamed: Bool { lock.isNamed }

  private var hasWaiter: Bool {
    monitor.withMutex { if case .none = waiter { false } else { true } }
  }

  /// Has a thread wait for the lock, if none does.
  ///
  /// - Returns: `false` if the system has no thread left.
  private func startWaiter() -> Bool {
    switch waiter {
    case .waiting: waiter = .waiting(isWanted: true)
    case .ended: break
    case .none:
      waiter = .waiting(isWanted: true)
      guard Thread.start({ self.waitForLock() }) else {
        waiter = .none
        return false
      }
    }
    return true
  }

  private func awaitOutcome(until deadline: Int) -> Result<Void, StorageError>? {
    while true {
      if case .ended(let outcome) = waiter {
        waiter = .none
        return outcome
      }
      let rest = deadline - Monitor.now()
      if rest <= 0 {
        waiter = .waiting(isWanted: false)
        return nil
      }
      _ = monitor.wait(for: .end, atMost: rest)
    }
  }

  private func waitForLock() {
    let outcome = Result { () throws(StorageError) in _ = try lock.take(.exclusive, waits: true) }
    monitor.withMutex {
      if case .waiting(isWanted: true) = waiter {
        waiter = .ended(outcome)
        monitor.broadcast(.end)
      } else {
        waiter = .none
        // Within the mutex: who asks from here on takes the lock anew.
        if case .success = outcome { lock.release() }
      }
    }
  }

  /// Asks again and again, where no thread can wait.
  private func ask(until deadline: Int) throws(StorageError) -> Bool {
    repeat {
      if try takeAtOnce() { return true }
      monitor.withMutex { _ = monitor.wait(for: .end, atMost: 1000) }
    } while Monitor.now() < deadline
    return false
  }
}

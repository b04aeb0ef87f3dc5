import LogFormat
import Synchronization

/// The lock of `TURN`, with a deadline for the wait.
///
/// The kernel waits for a lock without end, and a thread that polls loses to those that sleep for the lock. So with a deadline,
/// a separate thread sleeps for the lock, and the caller sleeps until it has the lock or the deadline has passed. After the
/// deadline the thread keeps waiting for the next caller; if there is none when it gets the lock, it releases the lock. There
/// is no such thread without a deadline, nor while the lock is free.
///
/// Only one thread of a process may call this at a time, and none while the process has the lock: the lock belongs to the file,
/// so such a call succeeds at once, and the first release takes the lock from both.
final class TurnLock: @unchecked Sendable {
  private let lock: any LockableFile
  private let monitor = Monitor()
  @safe @exclusivity(unchecked) private var waiter = Waiter.none
  /// Whether this process has the lock.
  private let isHeld = Atomic<Bool>(false)

  /// The state of the thread that waits for the lock.
  private enum Waiter {
    case none
    case waiting(isWanted: Bool)
    /// The thread has ended, with the lock or without.
    case ended(Result<Void, StorageError>)
  }

  init(_ lock: any LockableFile) { self.lock = lock }

  /// Takes the lock if no other process has it.
  ///
  /// Does nothing while a thread left behind by a deadline waits for the lock: the lock is the file's, so that thread would get
  /// the lock that the caller has, and release it.
  func takeAtOnce() throws(StorageError) -> Bool {
    if hasWaiter { return false }
    guard try lock.take(.exclusive, waits: false) else { return false }
    noteTaken()
    return true
  }

  /// Takes the lock.
  ///
  /// - Parameter deadline: The end of the wait, by ``Monitor/now()``; `nil` waits without end. After a call that has missed its
  ///   deadline, the next one has a deadline, too.
  /// - Returns: Whether it was taken before the deadline.
  /// - Throws: ``StorageError`` if the system cannot lock the file.
  func take(until deadline: Int?) throws(StorageError) -> Bool {
    guard let deadline else {
      _ = try lock.take(.exclusive, waits: true)
      noteTaken()
      return true
    }
    if try takeAtOnce() { return true }
    let start = monitor.withMutex { startWaiter() }
    if !start { return try ask(until: deadline) }
    guard let outcome = monitor.withMutex({ awaitOutcome(until: deadline) }) else { return false }
    try outcome.get()
    noteTaken()
    return true
  }

  /// Releases the lock.
  func release() {
    isHeld.store(false, ordering: .relaxed)
    lock.release()
  }

  /// Gives back the file, once no thread waits for the lock any more.
  func close() { lock.close() }

  private func noteTaken() {
    let wasHeld = isHeld.exchange(true, ordering: .relaxed)
    assert(!wasHeld, "a process takes the lock of its turn twice")
  }

  /// Whether the file still has a name; see ``/LogFormat/LockableFile/isNamed``.
  var isNamed: Bool { lock.isNamed }

  private var hasWaiter: Bool {
    monitor.withMutex { if case .none = waiter { false } else { true } }
  }

  /// Starts a thread that waits for the lock, if there is none.
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
        // Done within the mutex: a caller that comes later takes the lock anew.
        if case .success = outcome { lock.release() }
      }
    }
  }

  /// Polls for the lock, if no thread can wait for it.
  private func ask(until deadline: Int) throws(StorageError) -> Bool {
    repeat {
      if try takeAtOnce() { return true }
      monitor.withMutex { _ = monitor.wait(for: .end, atMost: 1000) }
    } while Monitor.now() < deadline
    return false
  }
}

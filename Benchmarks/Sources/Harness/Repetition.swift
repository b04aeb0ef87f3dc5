import Foundation
import Synchronization

/// A thread that repeats a piece of work until it is stopped: the work beside the one that is
/// measured.
public final class Repetition {
  private let shared = Shared()

  private final class Shared: Sendable {
    let isStopped = Atomic<Bool>(false)
    let outcome = Mutex<Result<Int, any Error>>(.success(0))
    let hasBegun = DispatchSemaphore(value: 0)
    let hasEnded = DispatchSemaphore(value: 0)
  }

  /// Starts the thread and waits until it has done the work once.
  ///
  /// - Parameter makeWork: Prepares the work, on the thread, and returns what is to be repeated.
  public init(_ makeWork: @escaping @Sendable () throws -> () throws -> Void) {
    let shared = shared
    let thread = Thread {
      let outcome = Result {
        try withPriority {
          let work = try makeWork()
          try work()
          shared.hasBegun.signal()
          var count = 0
          while !shared.isStopped.load(ordering: .relaxed) {
            try work()
            count += 1
          }
          return count
        }
      }
      shared.outcome.withLock { $0 = outcome }
      shared.hasBegun.signal()
      shared.hasEnded.signal()
    }
    thread.start()
    shared.hasBegun.wait()
  }

  /// Ends the thread.
  ///
  /// - Returns: The number of times that the work was done, after the first.
  /// - Throws: What stopped it before, if anything did.
  @discardableResult
  public func stop() throws -> Int {
    shared.isStopped.store(true, ordering: .relaxed)
    shared.hasEnded.wait()
    return try shared.outcome.withLock { try $0.get() }
  }
}

import EngineStore
import Foundation
import Harness
import Synchronization
import Workloads

/// A thread that updates rows, a hundred a commit, until it is told to stop.
final class Writer {
  private let shared = Shared()

  private final class Shared: Sendable {
    let isStopped = Atomic<Bool>(false)
    let outcome = Mutex<Result<Void, any Error>>(.success(()))
    let hasBegun = DispatchSemaphore(value: 0)
    let hasEnded = DispatchSemaphore(value: 0)
  }

  /// Starts the thread and waits until it writes.
  ///
  /// - Parameter trips: Whose store is written to.
  /// - Throws: What the engine throws.
  init(beside trips: EngineTrips) throws {
    let engine = trips.engine
    let shared = shared
    let thread = Thread {
      let outcome = Result {
        try withPriority {
          let own = try EngineTrips(sharing: engine)
          var keys = RandomKeys(count: 1_000_000, seed: 6)
          try own.raiseRatings(keys.next(100, distinctWithin: 100)[...])
          shared.hasBegun.signal()
          while !shared.isStopped.load(ordering: .relaxed) {
            try own.raiseRatings(keys.next(100, distinctWithin: 100)[...])
          }
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
  /// - Throws: What stopped it before, if anything did.
  func stop() throws {
    shared.isStopped.store(true, ordering: .relaxed)
    shared.hasEnded.wait()
    try shared.outcome.withLock { try $0.get() }
  }
}

import Foundation
import Synchronization

/// Runs work on threads of its own and waits for all.
///
/// Threads and not tasks: a commit blocks, and tasks that block starve the pool that has as many threads
/// as there are processors.
///
/// - Parameters:
///   - count: How many threads.
///   - work: The work of one, by number.
/// - Throws: The first error of any thread.
public func onThreads(_ count: Int, _ work: @escaping @Sendable (Int) throws -> Void) throws {
  let done = DispatchGroup()
  let failure = Mutex<(any Error)?>(nil)
  for number in 0..<count {
    done.enter()
    let thread = Thread {
      defer { done.leave() }
      do { try withPriority { try work(number) } } catch { failure.withLock { $0 = $0 ?? error } }
    }
    thread.stackSize = 1 << 20
    thread.start()
  }
  done.wait()
  if let error = failure.withLock({ $0 }) { throw error }
}

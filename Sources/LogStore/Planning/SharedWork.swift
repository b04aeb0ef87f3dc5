import Dispatch
import Synchronization

/// Work that another thread does, if one is free for it, or else the thread that waits for its result.
///
/// No thread waits for another that does not come: the first one to begin the work does it.
final class SharedWork<Output>: @unchecked Sendable {
  // Touched by the thread that took the work, and once it is done by the one that waits.
  private var work: (() throws -> Output)?
  private var output: Result<Output, any Error>?
  private let isTaken = Atomic<Bool>(false)
  private let done = DispatchSemaphore(value: 0)

  /// Offers work to other threads.
  ///
  /// - Parameter work: Done once, on any thread; what it captures is its own until then.
  init(_ work: @escaping () throws -> Output) {
    self.work = work
    DispatchQueue.global(qos: .userInitiated).async { self.run() }
  }

  /// Does the work if no thread has begun it, and otherwise waits for its end.
  func result() -> Result<Output, any Error> {
    run()
    done.wait()
    guard let output else { preconditionFailure("work that is done has an output") }
    return output
  }

  private func run() {
    guard !isTaken.exchange(true, ordering: .acquiringAndReleasing) else { return }
    if let work { output = Result(catching: work) }
    work = nil
    done.signal()
  }
}

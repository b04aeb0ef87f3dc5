import Locking
import LogEngine
import Synchronization

/// Has the indexes of an open store written to their files in the background, so that a process that is killed leaves them
/// to the next one; see ``IndexKeepingPace``.
///
/// A thread of the engine's ``/LogEngine/WorkerPool`` does it. While nothing changes, nothing wakes up.
final class IndexKeeper: Sendable {
  /// Whether there is something to write.
  private let isBehind = Atomic<Bool>(false)
  /// Whether an index was made, or commits were packed, since the last step.
  private let isOutdated = Atomic<Bool>(false)
  private let state = Lock<State>(State(), .indexKeeper)

  private struct State {
    var worker: Worker?
    var pace = IndexKeepingPace(logEnd: 0)
  }

  deinit { stop() }

  /// Begins.
  ///
  /// - Parameters:
  ///   - logEnd: The end of the log.
  ///   - keep: Writes the indexes if it is time; returns whether there is nothing to write until the next change.
  ///     Never called by two threads at once.
  func start(logEnd: UInt64, _ keep: @escaping @Sendable (inout IndexKeepingPace) -> Bool) {
    let worker = Worker(
      of: .lowest,
      delay: { [weak self] in self?.delay },
      work: { [weak self] in self?.step(keep) }
    )
    state.withLock { $0 = State(worker: worker, pace: IndexKeepingPace(logEnd: logEnd)) }
  }

  /// Ends, after what is being written, and waits for that.
  func stop() { state.withLock { $0.worker.take() }?.stop() }

  /// Takes in that a commit has changed what an index has.
  ///
  /// - Complexity: O(1); a look at a flag, but for the first change since indexes were written.
  func noteChange() {
    if isBehind.load(ordering: .relaxed) { return }
    if !isBehind.exchange(true, ordering: .acquiringAndReleasing) {
      state.withLock { $0.worker }?.signal()
    }
  }

  /// Takes in that an index was made, or that commits which files name were packed.
  func noteOutdated() {
    isOutdated.store(true, ordering: .releasing)
    noteChange()
  }

  /// The worker's next wait, in microseconds; `nil` if there is nothing to write.
  private var delay: Int? {
    isBehind.load(ordering: .acquiring) ? IndexKeepingPace.quietMicroseconds : nil
  }

  private func step(_ keep: (inout IndexKeepingPace) -> Bool) {
    guard isBehind.exchange(false, ordering: .acquiringAndReleasing) else { return }
    // No other thread changes it.
    var pace = state.withLock { $0.pace }
    if isOutdated.exchange(false, ordering: .acquiringAndReleasing) { pace.noteOutdated() }
    let isUpToDate = keep(&pace)
    state.withLock { $0.pace = pace }
    if !isUpToDate { isBehind.store(true, ordering: .releasing) }
  }
}

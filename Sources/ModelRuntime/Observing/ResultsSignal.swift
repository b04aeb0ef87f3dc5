import Observation
import Synchronization

/// The registration of trackers of an observer's properties, and the wait of tasks for the next change.
///
/// Separate from the observer, and Sendable, so that a save on another thread can notify without touching
/// the observer, which belongs to its context's owner.
final class ResultsSignal: Observable, Sendable {
  private struct Waiting {
    var round: UInt64 = 0
    var ticketCount: UInt64 = 0
    var continuations: [UInt64: CheckedContinuation<Void, Never>] = [:]
  }

  private let registrar = ObservationRegistrar()
  private let waiting = Mutex(Waiting())

  // Only their key paths matter: one for the results, one for the query.
  private var contents: Void { () }
  private var query: Void { () }

  func trackContents() { registrar.access(self, keyPath: \.contents) }
  func trackQuery() { registrar.access(self, keyPath: \.query) }

  func contentsChange() {
    registrar.withMutation(of: self, keyPath: \.contents) {}
    wake()
  }

  func queryChanges() { registrar.withMutation(of: self, keyPath: \.query) {} }

  // MARK: Waiting

  /// The number of times tasks were woken: read before the results, it tells whether that read is still current.
  var round: UInt64 { waiting.withLock { $0.round } }

  /// Resumes the waiting tasks, without notifying trackers.
  func wake() {
    let continuations = waiting.withLock { waiting in
      waiting.round += 1
      defer { waiting.continuations = [:] }
      return waiting.continuations
    }
    for continuation in continuations.values { continuation.resume() }
  }

  /// Waits until tasks are woken once more than in a round, or the task is cancelled.
  func wait(past round: UInt64, isolation: isolated (any Actor)?) async {
    let ticket = waiting.withLock { waiting in
      waiting.ticketCount += 1
      return waiting.ticketCount
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation(isolation: isolation) { continuation in
        let waits = waiting.withLock { waiting in
          // The handler that found nothing to resume ran after the task was marked as cancelled.
          if waiting.round != round || Task.isCancelled { return false }
          waiting.continuations[ticket] = continuation
          return true
        }
        if !waits { continuation.resume() }
      }
    } onCancel: {
      waiting.withLock { $0.continuations.removeValue(forKey: ticket) }?.resume()
    }
  }
}

import Foundation
import LogEngine
import Locking
import ModelRuntime
import Synchronization

/// Deletes what has expired in a store: in the background, and when it is asked to.
///
/// It deletes as a context of the store's container does, so that delete rules hold and other contexts hear of it. The
/// container belongs to the app: the expirer keeps none, and does nothing once it is gone. In the background a thread of
/// the engine's ``/LogEngine/WorkerPool`` does one batch at a time, so that a store with many rows keeps none of them for long.
final class Expirer: Sendable {
  private let store: any ExpiringStore
  private let rules: [ExpirationRule]
  private let author: String
  private let clock: ExpirationClock
  private let state: Lock<State>
  private let hasStopped = Atomic<Bool>(false)

  private struct State {
    /// `nil` if nothing is deleted in the background.
    var schedule: ExpirationSchedule?
    /// The pass that is under way in the background.
    var pass: ExpirationPass?
    /// Number of rows that the last pass kept because of a relationship, by rule.
    var keptCounts: [Int]
    var container: (@Sendable () -> ModelContainer?)?
    var worker: Worker?
  }

  /// - Parameters:
  ///   - rules: The rules of expiration.
  ///   - store: The store, open for saving.
  ///   - author: The author of what is deleted.
  ///   - interval: The time from one background pass to the next; `nil` for no background passes.
  ///   - clock: The clocks.
  init(
    _ rules: [ExpirationRule],
    in store: any ExpiringStore,
    author: String,
    every interval: Duration?,
    _ clock: ExpirationClock = ExpirationClock()
  ) {
    self.rules = rules
    self.store = store
    self.author = author
    self.clock = clock
    state = Lock(
      State(
        schedule: interval.map { ExpirationSchedule(interval: $0, clock.uptime()) },
        keptCounts: rules.map { _ in 0 }
      ),
      .expiration
    )
  }

  deinit { stop() }

  /// The container, while there is one.
  var container: ModelContainer? { state.withLock { $0.container }?() }

  /// Begins to delete in the background, if that is wanted.
  func start(in container: @escaping @Sendable () -> ModelContainer?) {
    let worker = state.withLock { state -> Worker? in
      state.container = container
      guard state.schedule != nil, state.worker == nil else { return nil }
      state.worker = Worker(
        of: .usual,
        delay: { [weak self] in self?.delay },
        work: { [weak self] in self?.step() }
      )
      return state.worker
    }
    // Nothing is due yet: it only learns when that will be.
    worker?.signal()
  }

  /// Ends the background's work, after the batch that is under way, and waits for that.
  func stop() {
    hasStopped.store(true, ordering: .releasing)
    state.withLock { $0.worker.take() }?.stop()
  }

  /// Deletes everything that has expired by now.
  ///
  /// - Parameters:
  ///   - container: The container, whose contexts are informed.
  ///   - check: Called before each batch; throws if there is to be none.
  /// - Returns: The outcome for the rows, by rule.
  /// - Throws: What the store throws, or `check`; what was committed by then stays.
  @discardableResult
  func expire(in container: ModelContainer, _ check: () throws -> Void) throws -> [ExpirationReport]
  {
    var pass = ExpirationPass(rules, at: clock.now(), author: author)
    while true {
      try check()
      let place = pass.currentRule
      do {
        switch try pass.step(in: container, of: store) {
        case .goesOn: break
        case .endsRule(let place): report(pass.reports[place], place)
        case .endsPass: return pass.reports
        }
      } catch {
        report(pass.reports[place], place)
        throw error
      }
    }
  }
}

// MARK: In the background

extension Expirer {
  /// The worker's next wait, in microseconds; `nil` for a wait without end.
  var delay: Int? {
    if hasStopped.load(ordering: .acquiring) { return nil }
    let now = clock.uptime()
    return state.withLock { $0.schedule?.delay(now) }
  }

  private func step() {
    if hasStopped.load(ordering: .acquiring) { return }
    // Without a container there are neither saves nor contexts: the store is about to be closed.
    guard let container else { return hasStopped.store(true, ordering: .releasing) }
    step(in: container)
  }

  /// Does what is due: begins a pass, or continues the current one by a batch.
  func step(in container: ModelContainer) {
    guard var pass = takePass() else { return }
    let start = clock.uptime()
    var isOver = false
    let place = pass.currentRule
    do {
      switch try pass.step(in: container, of: store) {
      case .goesOn: break
      case .endsRule(let place): report(pass.reports[place], place)
      case .endsPass: isOver = true
      }
    } catch SwiftDataError.storeClosed {
      return hasStopped.store(true, ordering: .releasing)
    } catch {
      // The other rules continue, and the next pass tries again.
      report(pass.reports[place], place)
    }
    let end = clock.uptime()
    state.withLock { state in
      if isOver {
        state.schedule?.passEnded(fruitless: pass.fruitlessDuration, end)
      } else {
        state.pass = pass
        state.schedule?.batchEnded(took: end - start, end)
      }
    }
  }

  /// The pass that is under way, or a new one if that is due.
  private func takePass() -> ExpirationPass? {
    let (now, uptime) = (clock.now(), clock.uptime())
    return state.withLock { state in
      guard state.schedule?.isDue(uptime) == true else { return nil }
      return state.pass.take() ?? ExpirationPass(rules, at: now, author: author)
    }
  }

  /// Reports the outcome for the rows of a rule to the store's receivers of events, if it is news.
  private func report(_ report: ExpirationReport, _ place: Int) {
    let isNews = state.withLock { state in
      defer { state.keptCounts[place] = report.keptCount }
      return report.deletedCount > 0 || report.failure != nil
        || report.keptCount != state.keptCounts[place]
    }
    if isNews { store.report(report) }
  }
}

import Dispatch
import Synchronization

#if Tracing
import Tracing
#endif

/// Runs blocking work on threads of its own: a limited number of blocks at once, the others in the order of their arrival.
///
/// Swift's concurrency pool has as many threads as the machine has cores, and they must not block; these are the system's,
/// and there are none while nothing runs.
final class WorkLane: Sendable {
  /// Maximum number of blocks that run at once.
  let width: Int
  private let state = Mutex<State>(State())

  private struct State {
    var waiting: [Job?] = []
    /// Jobs before this position have begun.
    var first = 0
    var runningCount = 0
    var mostRunning = 0
  }

  init(width: Int) {
    precondition(width > 0, "a lane of width \(width) would run nothing")
    self.width = width
  }

  /// The greatest number of blocks that ever ran at once.
  var mostRunning: Int { state.withLock { $0.mostRunning } }

  /// Runs a block when its turn comes.
  ///
  /// - Throws: `CancellationError` if the task is cancelled before the block begins, which then never runs; otherwise the
  ///   error of the block. A block that has begun is not interrupted.
  func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result
  {
    let job = Job()
    let body = inCallersContext(body)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        job.prepare(
          run: { continuation.resume(with: Swift.Result(catching: body)) },
          cancel: { continuation.resume(throwing: CancellationError()) }
        )
        submit(job)
      }
    } onCancel: {
      job.cancel()
    }
  }

  /// Adds a job to the waiting ones, and starts a thread for it if needed.
  func submit(_ job: Job) {
    let needsThread = state.withLock { state in
      state.waiting.append(job)
      guard state.runningCount < width else { return false }
      state.runningCount += 1
      state.mostRunning = max(state.mostRunning, state.runningCount)
      return true
    }
    if needsThread { DispatchQueue.global(qos: .userInitiated).async { self.drain() } }
  }

  /// Runs jobs until none waits.
  private func drain() {
    while let job = next() { job.begin() }
  }

  private func next() -> Job? {
    state.withLock { state in
      guard state.first < state.waiting.count else {
        state.waiting.removeAll(keepingCapacity: state.waiting.count <= 64)
        state.first = 0
        state.runningCount -= 1
        return nil
      }
      let job = state.waiting[state.first]
      state.waiting[state.first] = nil
      state.first += 1
      // Half of the list has already run: drop it, at the cost of one move for each job overall.
      if state.first > 64, state.first * 2 > state.waiting.count {
        state.waiting.removeFirst(state.first)
        state.first = 0
      }
      return job
    }
  }
}

extension WorkLane {
  /// The block, with the tracing context of the calling task: the lane's threads run no task, and so have none.
  private func inCallersContext<Result>(
    _ body: @escaping @Sendable () throws -> Result
  ) -> @Sendable () throws -> Result {
    #if Tracing
    let context = ServiceContext.current
    return { try ServiceContext.withValue(context, operation: body) }
    #else
    return body
    #endif
  }
}

extension WorkLane {
  /// A block that begins once, or is cancelled before.
  final class Job: Sendable {
    private let state = Mutex<State>(.new)

    private enum State {
      case new
      case waiting(run: @Sendable () -> Void, cancel: @Sendable () -> Void)
      case over
    }

    /// Sets the closures to call; a job that is already cancelled calls the second one at once.
    func prepare(run: @escaping @Sendable () -> Void, cancel: @escaping @Sendable () -> Void) {
      let isCancelled = state.withLock { state in
        guard case .new = state else { return true }
        state = .waiting(run: run, cancel: cancel)
        return false
      }
      if isCancelled { cancel() }
    }

    func begin() {
      if case .waiting(let run, _) = end() { run() }
    }

    func cancel() {
      if case .waiting(_, let cancel) = end() { cancel() }
    }

    private func end() -> State {
      state.withLock { state in
        defer { state = .over }
        return state
      }
    }
  }
}

import LogEngine
import ModelRuntime

#if Logging
import Logging
#endif

/// Reports fetches that take long, with their plans.
struct SlowFetches: Sendable {
  let threshold: Duration
  private let handlers: [@Sendable (QueryPlan) -> Void]

  /// - Returns: `nil` without a handler.
  init?(_ configuration: LogStoreConfiguration) {
    guard let threshold = configuration.slowFetchThreshold else { return nil }
    var handlers: [@Sendable (QueryPlan) -> Void] = []
    if let handler = configuration.onSlowFetch { handlers.append(handler) }
    #if Logging
    if var logger = configuration.logger {
      logger[metadataKey: "store"] = "\(configuration.name)"
      let log = logger
      handlers.append { plan in
        log.warning(
          "slow fetch",
          metadata: [
            "question": "\(plan.headline)",
            "duration_seconds": "\(plan.duration / .seconds(1))",
            "plan": "\(plan)",
          ],
          source: "LogStore"
        )
      }
    }
    #endif
    if handlers.isEmpty { return nil }
    self.threshold = threshold
    self.handlers = handlers
  }

  func report(_ plan: QueryPlan) {
    for handler in handlers { handler(plan) }
  }
}

extension TableStore {
  /// Answers a question of a context: measured, and reported if it takes long.
  ///
  /// - Parameters:
  ///   - request: The request of the fetch.
  ///   - question: The kind of result that was asked for.
  ///   - body: Answers it, and writes down how where it is given something to write on.
  /// - Returns: The answer.
  /// - Throws: What `body` throws.
  @inline(__always)
  func answer<T: PersistentModel, R>(
    _ request: DataStoreFetchRequest<T>,
    _ question: QueryPlan.Question,
    _ body: (QueryTrace?) throws -> R
  ) rethrows -> R {
    try measure(.fetch) {
      guard let slow = observation.slowFetches else { return try body(request.editingState.trace) }
      return try watch(request, question, slow, body)
    }
  }

  @inline(never)
  private func watch<T: PersistentModel, R>(
    _ request: DataStoreFetchRequest<T>,
    _ question: QueryPlan.Question,
    _ slow: SlowFetches,
    _ body: (QueryTrace?) throws -> R
  ) rethrows -> R {
    let trace = request.editingState.trace ?? QueryTrace()
    let start = trace.now
    let result = try body(trace)
    let duration = start.duration(to: trace.now)
    if duration >= slow.threshold {
      slow.report(
        trace.plan(QueryPlan(question, request.descriptor, store: "LogStore"), took: duration)
      )
    }
    return result
  }
}

import Foundation
import Synchronization

extension ModelContext {
  /// Fetches, and returns the plan: the index or columns that led to the rows, the bytes read, the time of each step.
  ///
  ///     print(try context.explain(FetchDescriptor<Trip>(predicate: #Predicate { $0.destination == "Oslo" })))
  ///
  /// The fetch really runs: objects appear in the context, and an index that it needs is built if no fetch has
  /// needed it before. The plan of the first of two calls may thus differ from that of the second.
  ///
  /// - Throws: As ``fetch(_:)``.
  /// - Complexity: That of the fetch, and some nanoseconds for each row that is read.
  // An app may declare a function of the same name.
  @_disfavoredOverload
  public func explain<T>(_ descriptor: FetchDescriptor<T>) throws -> QueryPlan
  where T: PersistentModel {
    let (_, plans) = try explain { try fetch(descriptor) }
    guard let plan = plans.last else { preconditionFailure("a fetch has a plan") }
    return plan
  }

  /// Runs a closure, and returns the plans of all questions that it asks this context.
  ///
  ///     let (delays, plans) = try context.explain {
  ///       try context.aggregate(january, by: \.carrier, .average(\.departureDelay))
  ///     }
  ///
  /// - Parameter body: Fetches, counts, or measures; fetches of other contexts are not listed.
  /// - Returns: What the closure returned, and the plans in the order of the questions.
  /// - Throws: What `body` throws.
  public func explain<R>(_ body: () throws -> R) rethrows -> (result: R, plans: [QueryPlan]) {
    let outer = editingState.trace
    let trace = QueryTrace()
    editingState.trace = trace
    defer { editingState.trace = outer }
    return (try body(), trace.plans)
  }
}

/// Prints the plan of every question if the environment sets `SWIFTDATA_EXPLAIN` to 1.
enum PlanPrinting {
  private static let enabled = Atomic(
    ProcessInfo.processInfo.environment["SWIFTDATA_EXPLAIN"] == "1"
  )

  static var isEnabled: Bool {
    get { enabled.load(ordering: .relaxed) }
    set { enabled.store(newValue, ordering: .relaxed) }
  }

  static func print(_ plan: QueryPlan) {
    try? FileHandle.standardError.write(contentsOf: Data("\(plan)\n".utf8))
  }
}

extension ModelContext {
  /// Answers a question, and records its plan if one was requested.
  ///
  /// - Parameters:
  ///   - question: The kind of result.
  ///   - descriptor: The models in question.
  ///   - count: The number of results in the answer; `nil` if it is no answer, and another question is asked instead.
  ///   - body: Answers it.
  /// - Returns: The answer.
  /// - Throws: The error of `body`.
  @inline(__always)
  func explained<T: PersistentModel, R>(
    _ question: QueryPlan.Question,
    _ descriptor: FetchDescriptor<T>,
    counting count: (R) -> Int?,
    _ body: () throws -> R
  ) rethrows -> R {
    if editingState.trace == nil, !PlanPrinting.isEnabled { return try body() }
    return try recorded(question, descriptor, counting: count, body)
  }

  @inline(never)
  private func recorded<T: PersistentModel, R>(
    _ question: QueryPlan.Question,
    _ descriptor: FetchDescriptor<T>,
    counting count: (R) -> Int?,
    _ body: () throws -> R
  ) rethrows -> R {
    let outer = editingState.trace
    // Questions that a question asks the context itself are part of it.
    if let outer, outer.isAsking { return try body() }
    let trace = outer ?? QueryTrace()
    editingState.trace = trace
    defer { editingState.trace = outer }
    let connections = coordinator.connections(for: .of(T.self))
    let names = connections.map { "\(Swift.type(of: $0.store.openStore))" }
    let store = names.isEmpty ? "no store" : names.joined(separator: ", ")
    let former = trace.plans.count
    let result = try trace.answer(
      QueryPlan(question, descriptor, store: store),
      counting: count,
      body
    )
    if PlanPrinting.isEnabled, trace.plans.count > former, let plan = trace.plans.last {
      PlanPrinting.print(plan)
    }
    return result
  }
}

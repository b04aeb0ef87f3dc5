/// The plan under construction while a question is answered.
///
/// Travels to the store in the ``EditingState``. Belongs to one call on one thread at a time, as its context does;
/// made only for a requested plan, so that a question without one costs a comparison with nil.
package final class QueryTrace: @unchecked Sendable {
  /// The questions that were answered, in order.
  private(set) var plans: [QueryPlan] = []
  /// Whether a question is being answered: questions asked meanwhile are part of it.
  private(set) var isAsking = false

  private var accesses: [QueryPlan.TableAccess] = []
  private var steps: [QueryPlan.Step] = []
  private var objectCount = 0
  private var handedOverCount: Int?
  private var contextFilters = false
  private var contextSorts = false

  package init() {}

  package var now: ContinuousClock.Instant { .now }

  /// Adds the time since a moment to a step.
  package func add(_ kind: QueryPlan.Step.Kind, since start: ContinuousClock.Instant?) {
    guard let start else { return }
    let duration = start.duration(to: now)
    if let place = steps.firstIndex(where: { $0.kind == kind }) {
      steps[place].duration += duration
    } else {
      steps.append(QueryPlan.Step(kind: kind, duration: duration))
    }
  }

  package func add(_ access: QueryPlan.TableAccess) { accesses.append(access) }

  func addObjects(_ count: Int) { objectCount += count }

  /// Records the answer of a store.
  ///
  /// - Parameters:
  ///   - count: The number of rows.
  ///   - needsFilter: Whether it left the predicate to the context.
  ///   - needsSort: Whether it left the sort to the context.
  func recordAnswer(_ count: Int, needsFilter: Bool, needsSort: Bool) {
    handedOverCount = count
    if needsFilter { contextFilters = true }
    if needsSort { contextSorts = true }
  }

  /// Answers a question, and keeps its plan.
  ///
  /// - Parameters:
  ///   - plan: The plan, as far as the question determines it.
  ///   - count: The number of results in the answer; `nil` if it is no answer, and another question is asked instead.
  ///   - body: Answers the question.
  /// - Returns: The answer.
  /// - Throws: The error of `body`.
  package func answer<R>(
    _ plan: @autoclosure () -> QueryPlan,
    counting count: (R) -> Int?,
    _ body: () throws -> R
  ) rethrows -> R {
    isAsking = true
    reset()
    defer { isAsking = false }
    let start = now
    let result = try body()
    let duration = start.duration(to: now)
    guard let count = count(result) else { return result }
    var plan = self.plan(plan(), took: duration)
    plan.resultCount = count
    plans.append(plan)
    return result
  }

  /// Completes a plan with the data collected so far.
  package func plan(_ plan: QueryPlan, took duration: Duration) -> QueryPlan {
    var plan = plan
    plan.accesses = accesses
    plan.steps = steps
    plan.duration = duration
    plan.objectCount = objectCount
    plan.handedOverCount = handedOverCount
    if contextFilters, plan.filteredBy != nil { plan.filteredBy = .context }
    if contextSorts, plan.sortedBy != nil { plan.sortedBy = .context }
    return plan
  }

  private func reset() {
    accesses = []
    steps = []
    objectCount = 0
    handedOverCount = nil
    contextFilters = false
    contextSorts = false
  }
}

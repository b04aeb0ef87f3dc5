import Foundation
import LogEngine
import ModelRuntime
import RowFormat

/// A round through the rules of a store: finds the rows that have expired at its beginning, and deletes them in batches.
struct ExpirationPass {
  /// Number of rows that one commit deletes if no objects are needed.
  static let batchCount = 1000

  private let rules: [ExpirationRule]
  private let author: String
  /// The time of day by which rows have expired.
  private let now: Date
  /// Number of rules that are finished.
  private var doneCount = 0
  /// The place of the rule whose turn it is.
  var currentRule: Int { doneCount }
  /// The rows of the next rule that were found, and how many of them are done with; `nil` before they are looked for.
  private var rows: [RowReference]?
  private var doneRowCount = 0
  private var startedAt: ContinuousClock.Instant?
  /// The time spent on looking for rows, and on trying to delete rows that a delete rule keeps.
  private(set) var fruitlessDuration = Duration.zero
  /// The outcome for the rows, by rule: of the rules that are finished, and of the next.
  private(set) var reports: [ExpirationReport]

  init(_ rules: [ExpirationRule], at now: Date, author: String) {
    self.rules = rules
    self.now = now
    self.author = author
    reports = rules.map { ExpirationReport(entityName: $0.model.entityName) }
  }

  /// The result of a step.
  enum Step: Equatable {
    /// There is more to do.
    case goesOn
    /// A rule is done with; its place among the rules.
    case endsRule(Int)
    /// No rule is left.
    case endsPass
  }

  /// Looks for the rows of the next rule, or deletes a batch of those that were found.
  ///
  /// - Parameters:
  ///   - container: The container, whose contexts are informed of the deletes.
  ///   - store: The store.
  /// - Returns: The result of the step, and whether there is more.
  /// - Throws: What the store throws. The next step then continues with the next rule.
  mutating func step(in container: ModelContainer, of store: any ExpiringStore) throws -> Step {
    guard doneCount < rules.count else { return .endsPass }
    let place = doneCount
    do {
      let rows = try rows ?? find()
      if doneRowCount < rows.count {
        let end = min(doneRowCount + Self.batchCount, rows.count)
        try delete(Array(rows[doneRowCount..<end]), in: container, of: store)
        doneRowCount = end
      }
      if doneRowCount < rows.count { return .goesOn }
    } catch {
      reports[place].failure = "\(error)"
      endRule()
      throw error
    }
    endRule()
    return .endsRule(place)

    func find() throws -> [RowReference] {
      let start = ContinuousClock.now
      let found = try store.rows(of: rules[place].model, thatMeet: rules[place].test(at: now))
      reports[place].searchDuration = start.duration(to: .now)
      fruitlessDuration += reports[place].searchDuration
      startedAt = start
      rows = found
      return found
    }
  }

  private mutating func delete(
    _ rows: [RowReference],
    in container: ModelContainer,
    of store: any ExpiringStore
  ) throws {
    let start = ContinuousClock.now
    let context = ModelContext(container)
    context.author = author
    let result = try context.delete(
      rows,
      of: rules[doneCount].model.type,
      in: store.identifier,
      thatStillMeet: rules[doneCount].test(at: now)
    )
    reports[doneCount].deletedCount += result.deletedCount
    reports[doneCount].commitCount += result.commitCount
    reports[doneCount].keptCount += result.keptCount
    if let denial = result.denial { reports[doneCount].keptReason = denial.message }
    if result.keptCount > result.deletedCount { fruitlessDuration += start.duration(to: .now) }
  }

  private mutating func endRule() {
    if let startedAt { reports[doneCount].duration = startedAt.duration(to: .now) }
    startedAt = nil
    rows = nil
    doneRowCount = 0
    doneCount += 1
  }
}

import Foundation
import SwiftData

/// Threads over one store, each with a context of its own.
///
/// The changes of a thread are noted as they are made. At the end the history tells the order in which saves were
/// committed, and the oracle applies them in that order: the stored state must then be the oracle's, and a save that
/// threw must have had a reason to.
final class ThreadedRun: @unchecked Sendable {
  private let world: World
  private let schedule: Schedule
  private let lock = NSLock()
  // Guarded by the lock.
  private var saves: [String: Save] = [:]
  private var violations: [Violation] = []

  /// The changes that a save was to write, and its outcome.
  private struct Save {
    var thread: Int
    var log: OracleContext
    var touched: Set<OracleState.ListName>
    var error: String?
  }

  init(_ schedule: Schedule, _ world: World) {
    self.schedule = schedule
    self.world = world
  }

  /// Runs the threads of a schedule, in an order that the seed chooses.
  func run(seed: UInt64) throws {
    let start = world.committed
    let threads = schedule.threads
    let scheduler = ThreadScheduler(threadCount: threads.count, seed: seed)
    let blocks = threads.indices.map { number in
      { @Sendable in self.work(number, threads[number]) }
    }
    guard scheduler.run(blocks) else { throw Violation(.hang, "the threads wait for each other") }
    if let violation = violations.first { throw violation }
    try compare(start)
  }

  // MARK: A thread

  private func work(_ number: Int, _ operations: [Operation]) {
    let settings = schedule.setting.contexts
    let setting = settings[(number + 1) % settings.count]
    let program = ThreadProgram(
      number,
      SimulatedContext(setting, world.containers[setting.container]),
      makeContext: { SimulatedContext(setting, self.world.containers[setting.container]) },
      didSave: { self.recordSave($0, number, $1, $2) }
    )
    do {
      for operation in operations { try program.perform(operation) }
      try program.perform(Operation(context: number, action: .save))
    } catch {
      let violation = (error as? Violation) ?? Violation(.error, "\(error)")
      lock.withLock { violations.append(violation) }
    }
  }

  private func recordSave(
    _ author: String,
    _ thread: Int,
    _ changes: [Change],
    _ error: (any Error)?
  ) {
    var log = OracleContext()
    var own: Set<Int> = []
    for case .insert(let key, _) in changes { own.insert(key) }
    log.add(changes, before: OracleState(), after: OracleState()) { !own.contains($0) }
    lock.withLock {
      saves[author] = Save(
        thread: thread,
        log: log,
        touched: [],
        error: error.map { "\($0)" }
      )
    }
  }

  // MARK: Afterwards

  /// Compares the stored state with the oracle's.
  ///
  /// A save that meets a member of a deleted owner marks it for deletion, and a third save may move it away before the
  /// first is committed. Whether one did is not recorded: both are looked at.
  private func compare(_ start: OracleState) throws {
    do {
      try compare(start, deletingPassingMembers: false)
    } catch let violation as Violation {
      do {
        try compare(start, deletingPassingMembers: true)
      } catch is Violation {
        throw violation
      }
    }
  }

  private func compare(_ start: OracleState, deletingPassingMembers: Bool) throws {
    let context = ModelContext(world.containers[0])
    let authors = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
      .compactMap(\.author)
    var state = start
    var states = [start]
    var touchers: [OracleState.ListName: Set<Int>] = [:]
    var committed: Set<String> = []
    for author in authors {
      guard let save = saves[author] else { continue }
      committed.insert(author)
      guard save.error == nil else {
        throw Violation(.saveThrew, "a save that threw was committed: \(save.error ?? "")")
      }
      let log =
        deletingPassingMembers
        ? try withPassingMembers(save.log, states, context) : save.log
      switch log.outcome(of: state) {
      case .throwsError(let reason):
        throw Violation(.saveDidNotThrow, "save \(author) did not throw although \(reason)")
      case .saves(let after):
        // If two threads add a member, the list has the place that either gave it.
        for name in OracleState.changedLists(state, after).union(save.log.listsAddedTo) {
          touchers[name, default: []].insert(save.thread)
        }
        state = after
        states.append(after)
      }
    }
    for (author, save) in saves.sorted(by: { $0.key < $1.key }) where !committed.contains(author) {
      guard let error = save.error else {
        // Only if nothing was left to be written: what it changed was gone, or was so already.
        let wasIdle = states.contains { state in
          if case .saves(state) = save.log.outcome(of: state) { true } else { false }
        }
        if !wasIdle { throw Violation(.error, "save \(author) wrote nothing") }
        continue
      }
      let hasReason = states.contains {
        if case .throwsError = save.log.outcome(of: $0) { true } else { false }
      }
      if !hasReason { throw Violation(.saveThrew, "save \(author) threw: \(error)") }
    }
    for (key, row) in state.rows.sorted(by: { $0.key < $1.key })
    where try !isStored(key, [row.kind], context) {
      throw Violation(.missingModel, "\(key) is not stored")
    }
    world.committed = state
    world.replaceContexts()
    try world.settleOrder(of: Set(touchers.filter { $0.value.count > 1 }.keys))
  }

  /// The log of a save, with the deletes of members that belonged to a deleted owner for a while, and are not stored at
  /// the end.
  private func withPassingMembers(
    _ log: OracleContext,
    _ states: [OracleState],
    _ context: ModelContext
  ) throws -> OracleContext {
    guard let now = states.last else { return log }
    var log = log
    for owner in log.deletedKeys {
      for relation in Relation.allCases where relation.rule == .cascade {
        let passing = Set(states.flatMap { $0.members(relation, of: owner) })
          .subtracting(now.members(relation, of: owner))
          .filter { now.contains($0) && !log.isAbout($0) }
        for member in passing.sorted() where try !isStored(member, relation.members, context) {
          log.add([.delete(member)], before: now, after: now) { _ in true }
        }
      }
    }
    return log
  }

  private func isStored(_ key: Int, _ kinds: [Kind], _ context: ModelContext) throws -> Bool {
    for kind in kinds where try kind.driver.model(key, in: context) != nil { return true }
    return false
  }
}

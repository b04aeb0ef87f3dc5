import Foundation
import LogStore
import SwiftData
import Synchronization

/// A store, the contexts that a schedule drives over it, and the oracle's account of each.
///
/// ``perform(_:)`` makes one step in both, and ``Violation`` is thrown if they differ.
final class World {
  let setting: Setting
  private let place: URL
  private(set) var containers: [ModelContainer] = []
  private(set) var contexts: [SimulatedContext] = []
  /// The stored state.
  var committed = OracleState() {
    didSet {
      // A model that comes back after its delete was saved is another row.
      for key in oldValue.rows.keys where !committed.contains(key) { identifiers[key] = nil }
    }
  }
  /// The identifiers of the stored rows that a look has seen.
  var identifiers: [Int: PersistentIdentifier] = [:]
  private var saveCount = 0
  /// The place up to which the history was last read, and the rows that were there then.
  var historyToken: DefaultHistoryToken?
  var historyRows: Set<PersistentIdentifier> = []
  /// The steps made so far; for messages.
  private var step = 0

  private static let count = Atomic<Int>(0)

  init(_ setting: Setting, in folder: URL, name: String) throws {
    self.setting = setting
    // No other world of the process has the name: a store that was not released would be shared.
    let own = "\(name)-\(Self.count.add(1, ordering: .relaxed).newValue)"
    place = setting.onDisk ? folder.appending(path: "\(own).store") : URL(filePath: "/\(own)")
    try open()
  }

  private func open() throws {
    containers = try (0..<setting.containerCount).map { _ in
      let configuration: ModelConfiguration =
        setting.onDisk
        ? ModelConfiguration("simulated", schema: simulatedSchema, url: place)
        : ModelConfiguration(
          place.lastPathComponent,
          schema: simulatedSchema,
          isStoredInMemoryOnly: true
        )
      return try ModelContainer(for: simulatedSchema, configurations: [configuration])
    }
    contexts = setting.contexts.map { SimulatedContext($0, containers[$0.container]) }
  }

  /// Releases everything, and removes the files.
  func close() {
    contexts = []
    containers = []
    if setting.onDisk { try? FileManager.default.removeItem(at: place) }
  }

  // MARK: Steps

  /// Makes a step.
  ///
  /// - Returns: Whether there was anything to do.
  /// - Throws: ``Violation``.
  @discardableResult
  func perform(_ operation: Operation) throws -> Bool {
    step += 1
    guard contexts.indices.contains(operation.context) else { return false }
    let context = contexts[operation.context]
    do {
      let isDone = try perform(operation, in: context)
      if isDone { try checkQuietly(context, after: operation) }
      return isDone
    } catch let violation as Violation {
      throw violation.at(step, operation)
    } catch {
      throw Violation(.error, "\(error)").at(step, operation)
    }
  }

  private func perform(_ operation: Operation, in context: SimulatedContext) throws -> Bool {
    switch operation.action {
    case .fetch(let query): return try context.check(query, committed)
    case .look:
      try lookAtEverything(context)
      return true
    case .save:
      try save(context)
      return true
    case .rollback:
      rollBack(context)
      return true
    case .process:
      if context.setting.autosaves, context.oracle.hasChanges { return false }
      context.context.processPendingChanges()
      if context.takesOverFrom(context.setting.container) { recordMerge(context) }
      return true
    case .undo, .redo: return try context.undoOrRedo(operation.action, committed)
    case .release:
      context.releaseHandles()
      return true
    case .renew:
      guard !context.oracle.hasChanges else { return false }
      replace(operation.context)
      return true
    case .compact: return try compact()
    case .reopen: return try reopen()
    case .history:
      try checkHistory()
      return true
    default: return try context.change(operation, world: self)
    }
  }

  private func recordMerge(_ context: SimulatedContext) {
    if setting.containerCount == 1 { context.oracle.refreshed() }
  }

  /// Makes every context anew: the next answers come from the store.
  func replaceContexts() {
    for index in contexts.indices { replace(index) }
  }

  private func replace(_ index: Int) {
    let setting = contexts[index].setting
    contexts[index] = SimulatedContext(setting, containers[setting.container])
  }

  private func compact() throws -> Bool {
    guard let container = containers.first else { return false }
    try container.compactStores()
    return true
  }

  private func reopen() throws -> Bool {
    guard setting.onDisk, !contexts.contains(where: \.oracle.hasChanges) else { return false }
    contexts = []
    weak let container = containers.first
    containers = []
    if container != nil { throw Violation(.leak, "the container lives on after all was let go") }
    do { try open() } catch { throw Violation(.leak, "opening the store again: \(error)") }
    try lookAfresh()
    return true
  }

  // MARK: Saving

  private func save(_ context: SimulatedContext) throws {
    let outcome = context.oracle.outcome(of: committed)
    let hadChanges = context.oracle.hasChanges
    do {
      try context.context.save()
    } catch {
      guard case .throwsError = outcome else {
        if context.oracle.isEntangled, committed.denies(context.oracle.log) {
          return rollBack(context)
        }
        throw Violation(.saveThrew, "a save threw: \(error)")
      }
      rollBack(context)
      return
    }
    guard case .saves(let after) = outcome else {
      if case .throwsError(let reason) = outcome {
        throw Violation(.saveDidNotThrow, "a save did not throw although \(reason)")
      }
      return
    }
    let before = committed
    committed = after
    let uncertain = context.oracle.uncertain
    let placed = context.oracle.membersPlaced
    let seen = context.oracle.view(of: before)
    context.oracle.settled()
    context.graves = [:]
    // A save then shows what it takes over from others.
    if context.takesOverFrom(context.setting.container) { recordMerge(context) }
    context.dropHandles(notIn: committed)
    guard hadChanges else { return }
    saveCount += 1
    let changed = OracleState.changedLists(before, after)
    for other in contexts where other !== context {
      other.oracle.othersSaved(changed, committed: committed)
      // A row saved under the key of a deleted tag is another row.
      other.handles = other.handles.filter { key, _ in
        before.rows[key]?.kind != .tag || after.contains(key)
      }
    }
    for other in contexts where other !== context && other.oracle.becomes { rollBack(other) }
    if !uncertain.isEmpty {
      try settleOrder(of: uncertain, before: before, seen: seen, placed: placed)
    } else if setting.freshLookInterval > 0, saveCount % setting.freshLookInterval == 0 {
      try lookAfresh()
    }
  }

  private func rollBack(_ context: SimulatedContext) {
    context.context.rollback()
    // A new row is gone, also if others have saved a tag of the same code.
    for key in context.oracle.insertedKeys { context.handles[key] = nil }
    context.oracle.settled()
    context.oracle.undoable = []
    context.oracle.redoable = []
    context.holdGraves(in: committed)
    context.dropHandles(notIn: committed)
  }

  /// Reads the order in which the store put lists that two contexts had changed, checks that it keeps the parts that
  /// either left alone, and takes it over.
  private func settleOrder(
    of names: Set<OracleState.ListName>,
    before: OracleState,
    seen: OracleState,
    placed: [OracleState.ListName: Set<Int>]
  ) throws {
    let fresh = SimulatedContext(Setting.Context(), containers[0])
    try fresh.readAll(committed)
    for name in names.sorted(by: { "\($0)" < "\($1)" }) {
      let wanted = committed.list(name)
      guard let model = fresh.handles[name.key] else {
        if wanted.isEmpty { continue }
        throw Violation(.rows, "\(name.key) is not in the store")
      }
      let found = name.relation.list(name.end, of: model).map(\.simulatedKey)
      guard Set(found) == Set(wanted), found.count == wanted.count else {
        throw Violation(.listMembers, "\(name) is \(found) in the store, and should hold \(wanted)")
      }
      let theirs = before.list(name)
      let ours = seen.list(name)
      for (place, first) in found.enumerated() {
        for second in found[(place + 1)...] {
          // In an order of its own the context has put them among those it knew.
          if let own = placed[name], own.contains(first) || own.contains(second) { continue }
          guard let a = theirs.firstIndex(of: first), let b = theirs.firstIndex(of: second), a > b,
            let c = ours.firstIndex(of: first), let d = ours.firstIndex(of: second), c > d
          else { continue }
          throw Violation(
            .listOrder,
            "\(name) is \(found) in the store: \(second) came before \(first) in every context"
          )
        }
      }
      committed.setList(name, found)
    }
    try lookAfresh()
  }

  /// Reads the order in which the store put lists that several threads had changed, checks their members, and takes
  /// the order over.
  func settleOrder(of names: Set<OracleState.ListName>) throws {
    let fresh = SimulatedContext(Setting.Context(), containers[0])
    try fresh.readAll(committed)
    for name in names.sorted(by: { "\($0)" < "\($1)" }) {
      let wanted = committed.list(name)
      guard let model = fresh.handles[name.key] else { continue }
      let found = name.relation.list(name.end, of: model).map(\.simulatedKey)
      guard Set(found) == Set(wanted), found.count == wanted.count else {
        throw Violation(.listMembers, "\(name) is \(found) in the store, and should hold \(wanted)")
      }
      committed.setList(name, found)
    }
    try lookAfresh()
  }

  // MARK: Looking

  /// Fetches everything in a context and compares it.
  private func lookAtEverything(_ context: SimulatedContext) throws {
    try context.readAll(context.oracle.view(of: committed), checking: !context.oracle.isEntangled)
    context.oracle.refreshed()
    if !context.oracle.isEntangled { try context.compareHandles(committed, "after fetching all") }
  }

  /// Compares the models a program holds, if nothing was saved that the context need not know.
  private func checkQuietly(_ context: SimulatedContext, after operation: Operation) throws {
    try context.checkGraves()
    if let violation = context.context.invariantViolations().first {
      throw Violation(.invariant, violation)
    }
    if let violation = try containers[context.setting.container].storedListViolations().first {
      throw Violation(.invariant, violation)
    }
    guard setting.lookInterval > 0, step % setting.lookInterval == 0 else { return }
    if !context.oracle.isStale, !context.oracle.isEntangled {
      try context.compareHandles(committed, "without a fetch")
    }
  }

  /// Compares what a new context shows.
  func lookAfresh() throws {
    let fresh = SimulatedContext(Setting.Context(), containers[0])
    try fresh.readAll(committed)
    try fresh.compareHandles(committed, "in a new context")
    if let violation = try containers[0].storeInvariantViolations().first {
      throw Violation(.invariant, violation)
    }
    identifiers = fresh.handles.mapValues(\.persistentModelID)
  }

  /// Looks at everything in every context, and at the store afresh.
  func finish() throws {
    do {
      for context in contexts { try lookAtEverything(context) }
      try lookAfresh()
      try checkHistory()
      if setting.onDisk {
        for context in contexts { rollBack(context) }
        _ = try reopen()
      }
    } catch let violation as Violation {
      throw violation.at(step, nil)
    } catch {
      throw Violation(.error, "\(error)").at(step, nil)
    }
  }
}

extension OracleState {
  /// Whether deletes of a log may meet members that others attached, so that a save may throw.
  fileprivate func denies(_ log: [Change]) -> Bool {
    var state = self
    state.apply(log)
    return !state.denied.isEmpty
  }
}

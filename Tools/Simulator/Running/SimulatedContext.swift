import Foundation
import SwiftData

/// A context that a schedule drives, the models the program holds of it, and the oracle's account of it.
final class SimulatedContext {
  let setting: Setting.Context
  let context: ModelContext
  var oracle = OracleContext()
  /// The models that the program holds, by their keys.
  var handles: [Int: any SimulatedModel] = [:]
  /// Models that were deleted here and are not saved yet: they must say so.
  var graves: [Int: any SimulatedModel] = [:]
  private var observer: ResultsObserver<Player, Never>?

  init(_ setting: Setting.Context, _ container: ModelContainer) {
    self.setting = setting
    context = ModelContext(container)
    if setting.merges { context.automaticallyMergesChanges = true }
    if setting.undoes { context.undoManager = UndoManager() }
    if setting.autosaves { context.autosaveEnabled = true }
    if setting.observes {
      observer = try? ResultsObserver(
        fetchDescriptor: FetchDescriptor<Player>(sortBy: [SortDescriptor(\.key)]),
        modelContext: context
      )
    }
  }

  /// Whether saves of contexts of a container come into this one without a fetch.
  func takesOverFrom(_ container: Int) -> Bool {
    container == setting.container && (setting.merges || setting.observes)
  }

  // MARK: What the program holds

  func dropHandles(notIn state: OracleState) {
    let view = oracle.view(of: state)
    let doubled = oracle.doubled(in: state)
    handles = handles.filter { view.contains($0.key) && !doubled.contains($0.key) }
    graves = [:]
  }

  /// Holds models again that a rollback has brought back.
  func holdGraves(in committed: OracleState) {
    // Of a deleted tag another may have been saved, under the same key.
    for (key, model) in graves where committed.rows[key].map({ $0.kind != .tag }) ?? false {
      handles[key] = model
    }
    graves = [:]
  }

  func releaseHandles() {
    handles = [:]
    graves = [:]
  }

  /// Finds a model, as a program does.
  func find(_ key: Int, _ world: World, _ access: Operation.Access) throws -> any SimulatedModel {
    let view = oracle.view(of: world.committed)
    guard let kind = view.rows[key]?.kind else {
      preconditionFailure("a step is about \(key), which is not there")
    }
    if access == .held, let held = handles[key] { return held }
    let found: (any SimulatedModel)? =
      switch access {
      case .identified:
        if world.committed.contains(key), let identifier = world.identifiers[key] {
          context.model(for: identifier) as? any SimulatedModel
        } else {
          try kind.driver.model(key, in: context)
        }
      case .searched: try search(key, kind)
      case .held, .fetched: try kind.driver.model(key, in: context)
      }
    guard let found else {
      throw Violation(.missingModel, "\(kind) \(key) was not found (\(access.rawValue))")
    }
    if access == .held { handles[key] = found }
    return found
  }

  private func search(_ key: Int, _ kind: Kind) throws -> (any SimulatedModel)? {
    guard case .models(let models) = try kind.driver.run(Query(kind: kind), in: context) else {
      return nil
    }
    return models.first { $0.simulatedKey == key }
  }

  // MARK: Looking

  /// Fetches all models, checks that they are those that should be there, and holds them.
  func readAll(_ view: OracleState, checking: Bool = true) throws {
    let doubled = oracle.insertedKeys.filter { view.rows[$0]?.kind == .tag }
    for kind in Kind.allCases where kind != .captain {
      guard case .models(let models) = try kind.driver.run(Query(kind: kind), in: context) else {
        continue
      }
      if checking {
        let found = models.map(\.simulatedKey).filter { !doubled.contains($0) }.sorted()
        let wanted = view.keys(of: kind.withSubclasses).filter { !doubled.contains($0) }
        guard found == wanted else {
          throw Violation(.rows, "a fetch of \(kind) finds \(found), and should find \(wanted)")
        }
      }
      for model in models where view.contains(model.simulatedKey) {
        if !doubled.contains(model.simulatedKey) { handles[model.simulatedKey] = model }
      }
    }
  }

  /// Compares every model the program holds with what the oracle says it shows.
  func compareHandles(_ committed: OracleState, _ when: String) throws {
    let view = oracle.view(of: committed)
    for (key, model) in handles.sorted(by: { $0.key < $1.key }) {
      guard let row = view.rows[key] else { continue }
      try compare(model, key, row, view, when)
    }
    if let observer, !oracle.isStale || setting.merges {
      let found = observer.results.map(\.key)
      let wanted = view.keys(of: [.player, .captain])
      guard found == wanted else {
        throw Violation(.observer, "an observer shows \(found), and should show \(wanted) \(when)")
      }
    }
  }

  private func compare(
    _ model: any SimulatedModel,
    _ key: Int,
    _ row: OracleState.Row,
    _ view: OracleState,
    _ when: String
  ) throws {
    let name = "\(row.kind) \(key)"
    if model.isDeleted { throw Violation(.isDeleted, "\(name) says it is deleted \(when)") }
    let found = (model.simulatedKey, model.value, model.group, model.note)
    guard found == (key, row.value, row.group, row.note) else {
      throw Violation(
        .attribute,
        "\(name) is \(found) \(when), and should be \((key, row.value, row.group, row.note))"
      )
    }
    for relation in Relation.allCases {
      if relation.members.contains(row.kind), relation.shape != .manyToMany {
        let found = relation.owner(of: model)?.simulatedKey
        let wanted = view.owner(relation, of: key)
        guard found == wanted else {
          throw Violation(
            .toOne,
            "\(relation.memberEnd) of \(name) is \(text(found)) \(when), and should be \(text(wanted))"
          )
        }
      }
      if relation.shape == .oneToOne, relation.owners.contains(row.kind) {
        let found = relation.partner(of: model)?.simulatedKey
        let wanted = view.partner(relation, of: key)
        guard found == wanted else {
          throw Violation(
            .toOne,
            "\(relation.ownerEnd) of \(name) is \(text(found)) \(when), and should be \(text(wanted))"
          )
        }
      }
      if relation.shape != .oneToOne, relation.owners.contains(row.kind) {
        try compareList(relation, .owner, relation.ownerEnd, of: model, key, name, view, when)
      }
      if relation.shape == .manyToMany, relation.members.contains(row.kind) {
        try compareList(relation, .member, relation.memberEnd, of: model, key, name, view, when)
      }
    }
  }

  private func compareList(
    _ relation: Relation,
    _ end: End,
    _ endName: String,
    of model: any SimulatedModel,
    _ key: Int,
    _ name: String,
    _ view: OracleState,
    _ when: String
  ) throws {
    let found = relation.list(end, of: model).map(\.simulatedKey)
    let list = OracleState.ListName(relation: relation, end: end, key: key)
    let wanted = view.list(list)
    if found == wanted { return }
    let text = "\(endName) of \(name) is \(found) \(when), and should be \(wanted)"
    guard found.sorted() == wanted.sorted() else { throw Violation(.listMembers, text) }
    if !oracle.uncertain.contains(list) { throw Violation(.listOrder, text) }
  }

  func checkGraves() throws {
    for (key, model) in graves where !model.isDeleted {
      throw Violation(.isDeleted, "\(key) was deleted, and says it is not")
    }
  }

  // MARK: Fetching

  func check(_ query: Query, _ committed: OracleState) throws -> Bool {
    if oracle.isEntangled { return false }
    if !oracle.doubled(in: committed).isEmpty { return false }
    let view = oracle.view(of: committed)
    var wanted = query.answer(in: view)
    switch try query.kind.driver.run(query, in: context) {
    case .count(let count):
      guard count == wanted.count else {
        throw Violation(.count, "\(query.swift) counts \(count), and should count \(wanted)")
      }
    case .models(let models):
      var found = models.map(\.simulatedKey)
      if query.sort == .none {
        // The store decides which of equal rows a page has; here the number and the rows must be right.
        if query.limit != nil || query.offset != nil {
          let all = Set(Query(kind: query.kind, condition: query.condition).answer(in: view))
          guard found.count == wanted.count, all.isSuperset(of: found) else {
            throw Violation(
              .fetch,
              "\(query.swift) finds \(found), \(wanted.count) of \(all.sorted())"
            )
          }
          return true
        }
        found.sort()
        wanted.sort()
      }
      guard found == wanted else {
        throw Violation(.fetch, "\(query.swift) finds \(found), and should find \(wanted)")
      }
      if let model = models.first(where: { $0.isDeleted }) {
        throw Violation(.isDeleted, "\(query.swift) finds a deleted \(model.simulatedKey)")
      }
    }
    return true
  }

  // MARK: Undoing

  func undoOrRedo(_ action: Operation.Action, _ committed: OracleState) throws -> Bool {
    guard let manager = context.undoManager else { return false }
    context.processPendingChanges()
    let now = oracle.view(of: committed)
    let next = if case .undo = action { oracle.undoable.last } else { oracle.redoable.last }
    if let next, next.hasLostOwners(deletedFrom: committed) {
      // The member comes back with the owner that it has in memory, of which the oracle has kept nothing.
      manager.removeAllActions()
      oracle.undoable = []
      oracle.redoable = []
      return false
    }
    if case .undo = action {
      guard let wanted = oracle.undoable.popLast() else { return false }
      guard manager.canUndo else { throw Violation(.undo, "there is nothing to undo") }
      manager.undo()
      oracle.redoable.append(now)
      oracle.become(wanted, before: now)
    } else {
      guard let wanted = oracle.redoable.popLast() else { return false }
      guard manager.canRedo else { throw Violation(.undo, "there is nothing to redo") }
      manager.redo()
      oracle.undoable.append(now)
      oracle.become(wanted, before: now)
    }
    dropHandles(notIn: committed)
    return true
  }

  private func text(_ key: Int?) -> String { key.map { "\($0)" } ?? "nil" }
}

extension PersistentModel where Self: SimulatedModel {
  /// The key: a name of its own, so that `any SimulatedModel` has it without a key path.
  var simulatedKey: Int { key }
}

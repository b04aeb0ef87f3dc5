import Foundation
import SwiftData

/// The program of one thread in its context, step by step.
///
/// A step about a row that the thread does not find is skipped; one that is made is noted, as the oracle will apply it.
final class ThreadProgram {
  private let number: Int
  private var context: SimulatedContext
  private let makeContext: () -> SimulatedContext
  private let didSave: (String, [Change], (any Error)?) -> Void
  private var log: [Change] = []
  private var saveCount = 0

  init(
    _ number: Int,
    _ context: SimulatedContext,
    makeContext: @escaping () -> SimulatedContext,
    didSave: @escaping (String, [Change], (any Error)?) -> Void
  ) {
    self.number = number
    self.context = context
    self.makeContext = makeContext
    self.didSave = didSave
  }

  func perform(_ operation: Operation) throws {
    switch operation.action {
    case .save: try save()
    case .renew:
      try save()
      context = makeContext()
    case .process: context.context.processPendingChanges()
    case .release: context.releaseHandles()
    case .fetch(let query): try read(query)
    default: try change(operation)
    }
  }

  private func save() throws {
    if log.isEmpty { return }
    saveCount += 1
    let author = "\(number).\(saveCount)"
    context.context.author = author
    defer { log = [] }
    do {
      try context.context.save()
    } catch {
      context.context.rollback()
      context.releaseHandles()
      return didSave(author, log, error)
    }
    didSave(author, log, nil)
    if let violation = try context.context.container.storedListViolations().first {
      throw Violation(.invariant, violation)
    }
  }

  private func model(_ key: Int, _ kinds: [Kind]) throws -> (any SimulatedModel)? {
    if let held = context.handles[key], !held.isDeleted { return held }
    for kind in kinds where kind != .captain {
      if let found = try kind.driver.model(key, in: context.context) {
        context.handles[key] = found
        return found
      }
    }
    return nil
  }

  private func anyModel(_ key: Int) throws -> (any SimulatedModel)? {
    try model(key, Kind.allCases)
  }

  // MARK: Reading

  /// Twins are changed together, in one save: a fetch finds both or none, with one value.
  private func read(_ query: Query) throws {
    guard log.isEmpty else { return }
    guard case .models(let models) = try query.kind.driver.run(query, in: context.context) else {
      return
    }
    guard query.limit == nil, query.offset == nil else { return }
    for model in models {
      var row = OracleState.Row(kind: query.kind)
      (row.value, row.group, row.note) = (model.value, model.group, model.note)
      if query.condition.holds(for: row, model.simulatedKey) { continue }
      throw Violation(
        .fetch,
        "\(query.swift) finds \(model.simulatedKey): \((row.value, row.group, row.note))"
      )
    }
    let twins = models.filter { Self.twins.contains($0.simulatedKey) }
    let values = twins.map(\.value)
    guard twins.isEmpty || twins.count == 2 && values[0] == values[1] else {
      throw Violation(
        .fetch,
        "\(query.swift) sees half a save: \(twins.map(\.simulatedKey)) with \(values)"
      )
    }
  }

  /// A player and a captain that are always saved together, with one value and one group.
  static let twins = [9_001, 9_002]

  // MARK: Changing

  private func change(_ operation: Operation) throws {
    switch operation.action {
    case .insert(let kind, let key, let insertion):
      let new = kind.make(key, code: key)
      context.context.insert(new)
      context.handles[key] = kind == .tag ? nil : new
      log.append(.insert(key, OracleState.Row(kind: kind, code: kind == .tag ? key : 0)))
      switch insertion {
      case .plain: break
      case .linkedBefore(let relation, let owner), .linkedAfter(let relation, let owner),
        .linkedOnly(let relation, let owner), .appended(let relation, let owner):
        try link(relation, new, key, owner)
      }
    case .set(let key, let attribute, let value):
      // Twins have values of their own, below.
      if Self.twins.contains(key) { return try setTwins(value) }
      guard let model = try anyModel(key) else { return }
      switch attribute {
      case .value: model.value = value
      case .group: model.group = value
      case .note: model.note = "n\(value)"
      case .code: return
      }
      log.append(.set(key, attribute, value))
    case .delete(let key):
      if Self.twins.contains(key) { return }
      guard let model = try anyModel(key) else { return }
      let before = presentAndDeleted
      func delete<M: SimulatedModel>(_ model: M) { context.context.delete(model) }
      delete(model)
      context.handles = context.handles.filter { !$0.value.isDeleted }
      let after = presentAndDeleted
      log.append(.delete(key))
      // The rows that it cascades to.
      let gone = after.deleted.subtracting(before.deleted)
        .union(before.inserted.subtracting(after.inserted))
      for other in gone.sorted() where other != key { log.append(.delete(other)) }
    case .link(let relation, let member, let owner):
      guard let model = try model(member, relation.members) else { return }
      guard let owner else {
        relation.setOwner(of: model, nil)
        log.append(.link(relation, member: member, owner: nil))
        return
      }
      try link(relation, model, member, owner)
    case .append(let relation, let end, let key, let other):
      let (member, owner) = end == .owner ? (other, key) : (key, other)
      guard let model = try model(member, relation.members) else { return }
      try link(relation, model, member, owner, byList: end)
    case .remove(let relation, let end, let key, let other):
      let (member, owner) = end == .owner ? (other, key) : (key, other)
      guard let model = try model(member, relation.members),
        let whole = try self.model(owner, relation.owners)
      else { return }
      guard relation.list(.owner, of: whole).contains(where: { $0 === model }) else { return }
      relation.changeList(.owner, of: whole, .remove(model))
      log.append(
        relation.shape == .manyToMany
          ? .unpair(relation, member: member, owner: owner)
          : .link(relation, member: member, owner: nil)
      )
    default: break
    }
  }

  /// The keys of the rows that the context has inserted, and of those it has deleted.
  private var presentAndDeleted: (inserted: Set<Int>, deleted: Set<Int>) {
    func keys(_ models: [any PersistentModel]) -> Set<Int> {
      Set(models.compactMap { ($0 as? any SimulatedModel)?.simulatedKey })
    }
    return (keys(context.context.insertedModelsArray), keys(context.context.deletedModelsArray))
  }

  private func setTwins(_ value: Int) throws {
    try save()
    let twins = try Self.twins.compactMap { try model($0, [.player]) }
    guard twins.count == 2 else { return }
    for twin in twins {
      twin.value = value
      twin.group = value % 5
    }
    for key in Self.twins { log += [.set(key, .value, value), .set(key, .group, value % 5)] }
    try save()
  }

  private func link(
    _ relation: Relation,
    _ member: any SimulatedModel,
    _ memberKey: Int,
    _ ownerKey: Int,
    byList end: End? = nil
  ) throws {
    guard let owner = try model(ownerKey, relation.owners), owner !== member else { return }
    if relation.shape == .manyToMany {
      if relation.list(.owner, of: owner).contains(where: { $0 === member }) { return }
      if end == .member {
        relation.changeList(.member, of: member, .append(owner))
      } else {
        relation.changeList(.owner, of: owner, .append(member))
      }
      log.append(.pair(relation, member: memberKey, owner: ownerKey))
      return
    }
    if let current = relation.owner(of: member), current === owner { return }
    if end != nil, relation.shape == .oneToMany {
      // Reading the list reads what others have committed: it may have the member by now, and appending it again
      // changes nothing.
      if relation.list(.owner, of: owner).contains(where: { $0 === member }) { return }
      relation.changeList(.owner, of: owner, .append(member))
    } else {
      relation.setOwner(of: member, owner)
    }
    log.append(.link(relation, member: memberKey, owner: ownerKey))
  }
}

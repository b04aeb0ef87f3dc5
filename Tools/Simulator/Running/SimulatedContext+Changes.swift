import SwiftData

extension SimulatedContext {
  /// Makes a step that changes something, in the context and in the oracle.
  ///
  /// - Returns: `false` if the step is about a row that is not there.
  func change(_ operation: Operation, world: World) throws -> Bool {
    let before = oracle.view(of: world.committed)
    guard var changes = changes(operation.action, before, world.committed) else { return false }
    if needsAllRead(operation.action) {
      // A program that changes a list has read it; and a fetch finds the saved state.
      try readAll(before, checking: !oracle.isEntangled)
      oracle.refreshed()
    }
    let held = handles
    try make(operation, world)
    var after = before
    after.apply(changes)
    // The context deletes the rows that a delete cascades to from now on, even if another context moves them meanwhile.
    for key in before.rows.keys.sorted()
    where !after.contains(key) && !changes.contains(.delete(key)) {
      changes.append(.delete(key))
    }
    if setting.undoes {
      context.processPendingChanges()
      if after != before || isInsertion(operation.action) {
        oracle.undoable.append(before)
        oracle.redoable = []
      } else {
        // Setting a value that is there already may be undone or not: nothing tells.
        context.undoManager?.removeAllActions()
        oracle.undoable = []
        oracle.redoable = []
      }
    }
    oracle.add(changes, before: before, after: after, isStored: world.committed.contains)
    for (key, model) in held where before.contains(key) && !after.contains(key) {
      graves[key] = model
      handles[key] = nil
    }
    handles = handles.filter { after.contains($0.key) }
    return true
  }

  private func isInsertion(_ action: Operation.Action) -> Bool {
    if case .insert = action { true } else { false }
  }

  /// Whether a step reads a list, of which a context that others have saved beside has an older one.
  private func needsAllRead(_ action: Operation.Action) -> Bool {
    guard oracle.isStale else { return false }
    switch action {
    case .append, .insertAt, .remove, .assign, .linkPartner, .deleteWhere: return true
    default: return false
    }
  }

  /// The changes of a step, by the oracle; `nil` if it is about a row that is not there, or would be wrong.
  private func changes(
    _ action: Operation.Action,
    _ view: OracleState,
    _ committed: OracleState
  ) -> [Change]? {
    func isThere(_ key: Int, _ kinds: [Kind]) -> Bool {
      view.rows[key].map { kinds.contains($0.kind) } ?? false
    }
    switch action {
    case .insert(let kind, let key, let insertion):
      if kind == .tag ? oracle.isAbout(key) || setting.undoes : view.contains(key) {
        return nil
      }
      var changes = [Change.insert(key, OracleState.Row(kind: kind, code: kind == .tag ? key : 0))]
      switch insertion {
      case .plain: break
      case .linkedBefore(let relation, let owner), .linkedAfter(let relation, let owner),
        .linkedOnly(let relation, let owner), .appended(let relation, let owner):
        guard isThere(owner, relation.owners), relation.members.contains(kind) else { return nil }
        if relation.shape == .manyToMany {
          changes.append(.pair(relation, member: key, owner: owner))
        } else {
          changes.append(.link(relation, member: key, owner: owner))
        }
      }
      return changes
    case .set(let key, let attribute, let value):
      guard view.contains(key), !oracle.doubled(in: committed).contains(key) else { return nil }
      return [.set(key, attribute, value)]
    case .delete(let key):
      guard view.contains(key), !oracle.doubled(in: committed).contains(key) else { return nil }
      return [.delete(key)]
    case .deleteWhere(let kind, let group):
      guard oracle.doubled(in: committed).isEmpty, !oracle.isEntangled else { return nil }
      return Query(kind: kind, condition: .group(group)).answer(in: view).map { .delete($0) }
    case .link(let relation, let member, let owner):
      guard isThere(member, relation.members), relation.shape != .manyToMany,
        owner.map({ isThere($0, relation.owners) }) ?? true,
        !(relation == .parts && owner.map { view.isPart($0, of: member) } ?? false)
      else { return nil }
      return [.link(relation, member: member, owner: owner)]
    case .linkPartner(let relation, let owner, let member):
      guard isThere(owner, relation.owners) else { return nil }
      if let member {
        guard isThere(member, relation.members) else { return nil }
        return [.link(relation, member: member, owner: owner)]
      }
      return [.unlink(relation, owner: owner)]
    case .append(let relation, let end, let key, let other):
      return edit(relation, end, key, view) { $0.contains(other) ? $0 : $0 + [other] }
    case .insertAt(let relation, let end, let key, let other, let place):
      return edit(relation, end, key, view) { list in
        // An array's `insert`; a model that is in the list twice is kept at its first place.
        var result = list
        result.insert(other, at: min(place, list.count))
        return result.uniqued
      }
    case .remove(let relation, let end, let key, let other):
      guard view.contains(other) else { return nil }
      return edit(relation, end, key, view) { $0.filter { $0 != other } }
    case .assign(let relation, let end, let key, let others):
      return edit(relation, end, key, view) { _ in others.uniqued }
    default: return nil
    }
  }

  /// The changes that setting a list amounts to: members that go, members that come, and the order.
  private func edit(
    _ relation: Relation,
    _ end: End,
    _ key: Int,
    _ view: OracleState,
    _ body: ([Int]) -> [Int]
  ) -> [Change]? {
    let own = end == .owner ? relation.owners : relation.members
    let others = end == .owner ? relation.members : relation.owners
    guard let kind = view.rows[key]?.kind, own.contains(kind), !oracle.isEntangled else {
      return nil
    }
    let old = view.list(relation, end, of: key)
    let new = body(old)
    for other in new {
      guard let kind = view.rows[other]?.kind, others.contains(kind) else { return nil }
      if relation == .parts, view.isPart(key, of: other) { return nil }
    }
    var changes: [Change] = []
    for gone in old where !new.contains(gone) {
      changes.append(
        relation.shape == .manyToMany
          ? .unpair(
            relation,
            member: end == .owner ? gone : key,
            owner: end == .owner ? key : gone
          ) : .link(relation, member: gone, owner: nil)
      )
    }
    for come in new where !old.contains(come) {
      changes.append(
        relation.shape == .manyToMany
          ? .pair(
            relation,
            member: end == .owner ? come : key,
            owner: end == .owner ? key : come
          ) : .link(relation, member: come, owner: key)
      )
    }
    let expected = old.filter(new.contains) + new.filter { !old.contains($0) }
    if expected != new {
      changes.append(.order(OracleState.ListName(relation: relation, end: end, key: key), new))
    }
    return changes
  }

  // MARK: In the context

  private func make(_ operation: Operation, _ world: World) throws {
    func model(_ key: Int) throws -> any SimulatedModel {
      try find(key, world, operation.access)
    }
    switch operation.action {
    case .insert(let kind, let key, let insertion):
      let new = kind.make(key, code: key)
      switch insertion {
      case .plain: context.insert(new)
      case .linkedBefore(let relation, let owner):
        join(relation, new, try model(owner))
        context.insert(new)
      case .linkedAfter(let relation, let owner):
        context.insert(new)
        join(relation, new, try model(owner))
      case .linkedOnly(let relation, let owner): join(relation, new, try model(owner))
      case .appended(let relation, let owner):
        let owner = try model(owner)
        if relation.shape == .oneToOne {
          relation.setPartner(of: owner, new)
        } else {
          relation.changeList(.owner, of: owner, .append(new))
        }
      }
      if operation.access == .held, !oracle.doubled(in: world.committed).contains(key),
        !(kind == .tag && world.committed.contains(key))
      {
        handles[key] = new
      } else {
        handles[key] = nil
      }
    case .set(let key, let attribute, let value):
      let model = try model(key)
      switch attribute {
      case .value: model.value = value
      case .group: model.group = value
      case .note: model.note = "n\(value)"
      case .code: (model as? Tag)?.code = value
      }
    case .delete(let key):
      let model = try model(key)
      func delete<M: SimulatedModel>(_ model: M) { context.delete(model) }
      delete(model)
      if operation.access == .held { graves[key] = model }
    case .deleteWhere(let kind, let group):
      try kind.driver.delete(.group(group), in: context)
    case .link(let relation, let member, let owner):
      let member = try model(member)
      relation.setOwner(of: member, try owner.map(model))
    case .linkPartner(let relation, let owner, let member):
      let owner = try model(owner)
      relation.setPartner(of: owner, try member.map(model))
    case .append(let relation, let end, let key, let other):
      let owner = try model(key)
      relation.changeList(end, of: owner, .append(try model(other)))
    case .insertAt(let relation, let end, let key, let other, let place):
      let owner = try model(key)
      relation.changeList(end, of: owner, .insert(try model(other), place))
    case .remove(let relation, let end, let key, let other):
      let owner = try model(key)
      relation.changeList(end, of: owner, .remove(try model(other)))
    case .assign(let relation, let end, let key, let others):
      let owner = try model(key)
      relation.changeList(end, of: owner, .assign(try others.map(model)))
    default: preconditionFailure("\(operation) changes nothing")
    }
  }

  /// Links a member and an owner from the member's end.
  private func join(
    _ relation: Relation,
    _ member: any SimulatedModel,
    _ owner: any SimulatedModel
  ) {
    if relation.shape == .manyToMany {
      relation.changeList(.member, of: member, .append(owner))
    } else {
      relation.setOwner(of: member, owner)
    }
  }
}

extension OracleState {
  /// Whether a team is another, or a part of it, however deep: such a link would make a circle.
  func isPart(_ key: Int, of whole: Int) -> Bool {
    var next: Int? = key
    var seen: Set<Int> = []
    while let current = next, seen.insert(current).inserted {
      if current == whole { return true }
      next = owner(.parts, of: current)
    }
    return false
  }
}

extension [Int] {
  /// Each element once, at its first place.
  var uniqued: [Int] {
    var seen: Set<Int> = []
    return filter { seen.insert($0).inserted }
  }
}

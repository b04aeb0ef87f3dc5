/// The unsaved changes of a context, and the facts about what it has seen.
struct OracleContext {
  /// The changes since the last save, in order.
  private(set) var log: [Change] = []
  /// Stored rows of which attributes were set.
  private var setKeys: Set<Int> = []
  /// Rows with unsaved changes here that others have deleted: one that is saved under such a key is another row.
  private var gone: Set<Int> = []
  /// The last owners that members were given, if they are stored, by relation and member.
  private var storedOwners: [Relation: [Int: Int]] = [:]
  /// The lists that the log touches.
  private(set) var touched: Set<OracleState.ListName> = []
  /// The lists that others have saved since the context last read everything.
  private var stale: Set<OracleState.ListName> = []
  /// The lists that were changed here and elsewhere: members are certain, and their order is not.
  private(set) var uncertain: Set<OracleState.ListName> = []
  /// Whether others have saved since the context last read everything.
  private(set) var isStale = false
  /// Whether others have saved since something was deleted here: only the save sees the effect of the rules on
  /// their changes.
  private(set) var isEntangled = false
  /// The states that the context showed before each step that can be undone, and after each that was.
  var undoable: [OracleState] = []
  var redoable: [OracleState] = []

  var hasChanges: Bool { !log.isEmpty }

  func view(of committed: OracleState) -> OracleState {
    var view = committed
    view.apply(log)
    for key in cascadedHere { view.apply(.delete(key)) }
    return view
  }

  /// The rows that deletes cascade to by the context's own relationships, whether or not others have deleted the rows
  /// between.
  private var cascadedHere: Set<Int> {
    var owners: [Relation: [Int: Int]] = [:]
    var cascaded: Set<Int> = []
    for change in log {
      switch change {
      case .link(let relation, let member, let owner) where relation.rule == .cascade:
        owners[relation, default: [:]][member] = owner
      case .delete(let key):
        var pending = [key]
        while let next = pending.popLast() {
          let members = owners.values.flatMap { $0.filter { $0.value == next }.keys }
          pending += members.filter { cascaded.insert($0).inserted }
        }
      default: break
      }
    }
    return cascaded
  }

  /// New models whose unique value a stored one has: until the save, the context shows both.
  func doubled(in committed: OracleState) -> Set<Int> {
    Set(insertedKeys.filter { committed.rows[$0]?.kind == .tag })
  }

  var insertedKeys: Set<Int> {
    var keys: Set<Int> = []
    for case .insert(let key, _) in log { keys.insert(key) }
    return keys
  }

  /// The stored rows that were deleted since the last save, in the order of their deletes.
  var deletedKeys: [Int] {
    let inserted = insertedKeys
    return log.compactMap { change in
      if case .delete(let key) = change, !inserted.contains(key) { key } else { nil }
    }
  }

  /// The to-one ends that were set since the last save.
  var linkedEnds: [(relation: Relation, member: Int)] {
    log.compactMap { change in
      if case .link(let relation, let member, _) = change { (relation, member) } else { nil }
    }
  }

  /// The lists that the log adds to, whether or not they have the members already.
  var listsAddedTo: Set<OracleState.ListName> {
    var names: Set<OracleState.ListName> = []
    for change in log {
      switch change {
      case .link(let relation, _, let owner?) where relation.shape == .oneToMany:
        names.insert(.init(relation: relation, end: .owner, key: owner))
      case .pair(let relation, let member, let owner):
        names.insert(.init(relation: relation, end: .owner, key: owner))
        names.insert(.init(relation: relation, end: .member, key: member))
      default: break
      }
    }
    return names
  }

  /// The members that the log adds to lists that it also puts in order.
  var membersPlaced: [OracleState.ListName: Set<Int>] {
    var placed: [OracleState.ListName: Set<Int>] = [:]
    for case .order(let name, _) in log {
      placed[name] = Set(
        log.compactMap { change in
          switch change {
          case .link(let relation, let member, let owner):
            relation == name.relation && owner == name.key ? member : nil
          case .pair(let relation, let member, let owner):
            if relation != name.relation {
              nil
            } else if name.end == .owner {
              owner == name.key ? member : nil
            } else {
              member == name.key ? owner : nil
            }
          default: nil
          }
        }
      )
    }
    return placed
  }

  /// Whether a row was inserted, changed or deleted since the last save.
  func isAbout(_ key: Int) -> Bool { log.contains { $0.keys.contains(key) } }

  /// Notes changes that a step makes.
  mutating func add(
    _ changes: [Change],
    before: OracleState,
    after: OracleState,
    isStored: (Int) -> Bool
  ) {
    log += changes
    for case .delete(let key) in changes
    where before.rows[key]?.kind == .tag && !isStored(key) {
      // It was inserted since the last save: nothing is left of it, and others may have one of its code.
      log.removeAll { $0.keys == [key] }
    }
    for change in changes {
      switch change {
      case .set(let key, _, _): if isStored(key) { setKeys.insert(key) }
      case .link(let relation, let member, let owner):
        storedOwners[relation, default: [:]][member] = owner.flatMap { isStored($0) ? $0 : nil }
      case .unlink(let relation, let owner):
        storedOwners[relation] = storedOwners[relation]?.filter { $0.value != owner }
      default: break
      }
    }
    touch(OracleState.changedLists(before, after))
  }

  /// Makes the context show a state, whatever it showed.
  mutating func become(_ state: OracleState, before: OracleState) {
    log = [.become(state)]
    setKeys = []
    storedOwners = [:]
    touch(OracleState.changedLists(before, state))
  }

  private mutating func touch(_ names: Set<OracleState.ListName>) {
    touched.formUnion(names)
    uncertain.formUnion(names.intersection(stale))
  }

  /// Whether the log puts everything in a state, and so cannot go with what others save.
  var becomes: Bool {
    log.contains { if case .become = $0 { true } else { false } }
  }

  /// Notes that another context has saved.
  ///
  /// - Parameters:
  ///   - changedLists: The lists that it changed.
  ///   - committed: The stored state now.
  mutating func othersSaved(
    _ changedLists: Set<OracleState.ListName>,
    committed: OracleState
  ) {
    isStale = true
    stale.formUnion(changedLists)
    uncertain.formUnion(touched.intersection(changedLists))
    // A row that was changed here and deleted there is shown until the save reports it.
    let inserted = insertedKeys
    isEntangled =
      isEntangled || log.contains { if case .delete = $0 { true } else { false } }
      || log.flatMap(\.keys).contains { !inserted.contains($0) && !committed.contains($0) }
    for key in gone where committed.contains(key) {
      if log.contains(.delete(key)) { setKeys.remove(key) }
      log.removeAll { $0.keys == [key] }
    }
    gone.formUnion(
      log.flatMap(\.keys).filter { !inserted.contains($0) && !committed.contains($0) }
    )
    undoable = []
    redoable = []
  }

  /// Notes that the context has read everything.
  mutating func refreshed() {
    isStale = false
    stale = []
  }

  /// Notes that nothing is unsaved any more.
  mutating func settled() {
    log = []
    setKeys = []
    gone = []
    storedOwners = [:]
    touched = []
    uncertain = []
    isEntangled = false
  }

  /// A member that was given an owner which another context has deleted: if the rule is to nullify, it has none then,
  /// and otherwise it cannot be saved.
  private func lostLink(_ after: OracleState, _ committed: OracleState) -> Int? {
    for (relation, owners) in storedOwners where relation.rule != .nullify {
      for (member, owner) in owners where after.contains(member) && !committed.contains(owner) {
        return member
      }
    }
    return nil
  }

  /// The outcome that a save must have.
  enum Outcome {
    case saves(OracleState)
    case throwsError(String)
  }

  func outcome(of committed: OracleState) -> Outcome {
    var deleted: Set<Int> = []
    for case .delete(let key) in log { deleted.insert(key) }
    if let key = setKeys.first(where: {
      !deleted.contains($0) && (!committed.contains($0) || gone.contains($0))
    }) {
      return .throwsError("another context has deleted \(key), which has unsaved changes here")
    }
    let after = view(of: committed)
    if let lost = lostLink(after, committed) {
      return .throwsError("\(lost) was related to a model that another context has deleted")
    }
    if let member = after.denied.first {
      return .throwsError("\(member) is in the way of a delete that is denied")
    }
    return .saves(after)
  }
}

extension OracleState {
  static func changedLists(_ before: OracleState, _ after: OracleState) -> Set<ListName> {
    before.listNames.union(after.listNames).filter { before.list($0) != after.list($0) }
  }
}

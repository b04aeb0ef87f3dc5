/// The state of a store, or of a context, written down as plainly as possible.
///
/// Nothing here is clever: lists are arrays, finding something is a loop, and every change is applied by one
/// function that reads like Compatibility.md.
struct OracleState: Equatable, Sendable {
  struct Row: Equatable, Sendable {
    var kind: Kind
    var value = 0
    var group = 0
    var note = ""
    var code = 0
  }

  /// A list at one end of a relationship.
  struct ListName: Hashable, Sendable {
    var relation: Relation
    var end: End
    var key: Int
  }

  var rows: [Int: Row] = [:]
  /// To-one ends at members: relation and member to owner.
  ///
  /// An owner that is not there reads as nil; it is named only where a delete is denied. A relation in which no
  /// member has an owner is left out, so that equal states compare equal.
  private(set) var owners: [Relation: [Int: Int]] = [:]
  /// To-many ends, in order; one that is missing is empty.
  private var lists: [ListName: [Int]] = [:]

  func contains(_ key: Int) -> Bool { rows[key] != nil }

  func keys(of kinds: [Kind]) -> [Int] {
    rows.filter { kinds.contains($0.value.kind) }.map(\.key).sorted()
  }

  /// The to-one end of a member.
  func owner(_ relation: Relation, of member: Int) -> Int? {
    guard let owner = owners[relation]?[member], contains(owner) else { return nil }
    return owner
  }

  /// The to-one end of a player: its locker.
  func partner(_ relation: Relation, of owner: Int) -> Int? {
    owners[relation]?.filter { $0.value == owner && contains($0.key) }.keys.min()
  }

  private mutating func setOwner(_ relation: Relation, of member: Int, to owner: Int?) {
    owners[relation, default: [:]][member] = owner
    if owners[relation]?.isEmpty == true { owners[relation] = nil }
  }

  /// Whether a member names an owner that is neither here nor stored: it was in the way of a denied delete, and both were
  /// then deleted by one save.
  func hasLostOwners(deletedFrom committed: OracleState) -> Bool {
    owners.values.contains { members in
      members.values.contains { !contains($0) && !committed.contains($0) }
    }
  }

  /// The members whose to-one end is an owner, in ascending order.
  func members(_ relation: Relation, of owner: Int) -> [Int] {
    (owners[relation] ?? [:]).filter { $0.value == owner }.map(\.key).sorted()
  }

  func list(_ relation: Relation, _ end: End, of key: Int) -> [Int] {
    lists[ListName(relation: relation, end: end, key: key)] ?? []
  }

  func list(_ name: ListName) -> [Int] { lists[name] ?? [] }

  var listNames: Set<ListName> { Set(lists.keys) }

  mutating func setList(_ name: ListName, _ keys: [Int]) {
    lists[name] = keys.isEmpty ? nil : keys
  }

  private mutating func changeList(
    _ relation: Relation,
    _ end: End,
    of key: Int,
    _ body: (inout [Int]) -> Void
  ) {
    let name = ListName(relation: relation, end: end, key: key)
    var list = list(name)
    body(&list)
    setList(name, list)
  }
}

// MARK: Changes

/// One change of a state; the unsaved changes of a context are an array of them.
enum Change: Equatable, Sendable {
  case insert(Int, OracleState.Row)
  case set(Int, Attribute, Int)
  case delete(Int)
  /// Gives a member an owner, at the end of the owner's list; or none.
  case link(Relation, member: Int, owner: Int?)
  /// Removes a player's locker, whichever it has.
  case unlink(Relation, owner: Int)
  /// Makes a badge and a player each other's, at the ends of both lists.
  case pair(Relation, member: Int, owner: Int)
  case unpair(Relation, member: Int, owner: Int)
  /// Puts a list in an order; members that are not named stay behind those that are.
  case order(OracleState.ListName, [Int])
  /// Puts everything in a state, as undo does.
  case become(OracleState)
}

extension Change {
  /// The rows a change is about.
  var keys: [Int] {
    switch self {
    case .insert(let key, _), .set(let key, _, _), .delete(let key): [key]
    case .link(_, let member, let owner): [member] + (owner.map { [$0] } ?? [])
    case .unlink(_, let owner): [owner]
    case .pair(_, let member, let owner), .unpair(_, let member, let owner): [member, owner]
    case .order(let name, _): [name.key]
    case .become: []
    }
  }
}

extension Change {
  /// Whether the change gives a member an owner in a relation, or takes it away.
  fileprivate func links(_ relation: Relation, _ member: Int) -> Bool {
    if case .link(relation, member, _) = self { true } else { false }
  }
}

/// The attributes that change.
enum Attribute: String, CaseIterable, Codable, Sendable { case value, group, note, code }

extension OracleState {
  mutating func apply(_ changes: [Change]) {
    let former = self
    for (place, change) in changes.enumerated() {
      guard case .delete(let key) = change else {
        apply(change)
        if case .link(let relation, let member, let owner?) = change, relation.rule == .cascade,
          contains(member), !contains(owner), former.contains(owner),
          !changes[(place + 1)...].contains(where: { $0.links(relation, member) })
        {
          // The context gave it an owner that others had given to one which is deleted here: the save, which finds
          // the owner and deletes it, deletes its members too.
          delete(member, sparing: [])
        }
        continue
      }
      // A model that the context moves after its delete is not deleted with an owner that others gave it meanwhile.
      var moved: Set<Link> = []
      for case .link(let relation, let member, _) in changes[(place + 1)...] {
        moved.insert(Link(relation: relation, member: member))
      }
      delete(key, sparing: moved)
    }
  }

  /// A to-one end of a member.
  private struct Link: Hashable {
    var relation: Relation
    var member: Int
  }

  /// Applies a change; one about a row that is not there is none.
  mutating func apply(_ change: Change) {
    switch change {
    case .insert(let key, let row): rows[key] = row
    case .set(let key, let attribute, let value): set(key, attribute, value)
    case .delete(let key): delete(key, sparing: [])
    case .link(let relation, let member, let owner):
      guard contains(member) else {
        // The player was given a locker that is gone: it has none.
        if relation.shape == .oneToOne, let owner { apply(.unlink(relation, owner: owner)) }
        return
      }
      link(relation, member, owner.flatMap { contains($0) ? $0 : nil })
    case .unlink(let relation, let owner):
      for (member, its) in owners[relation] ?? [:] where its == owner {
        setOwner(relation, of: member, to: nil)
      }
    case .pair(let relation, let member, let owner):
      guard contains(member), contains(owner) else { return }
      changeList(relation, .owner, of: owner) { if !$0.contains(member) { $0.append(member) } }
      changeList(relation, .member, of: member) { if !$0.contains(owner) { $0.append(owner) } }
    case .unpair(let relation, let member, let owner): unpair(relation, member, owner)
    case .order(let name, let order):
      let list = list(name)
      let named = order.filter(list.contains)
      setList(name, named + list.filter { !named.contains($0) })
    case .become(let state): self = state
    }
  }

  private mutating func set(_ key: Int, _ attribute: Attribute, _ value: Int) {
    guard contains(key) else { return }
    switch attribute {
    case .value: rows[key]?.value = value
    case .group: rows[key]?.group = value
    case .note: rows[key]?.note = "n\(value)"
    case .code: rows[key]?.code = value
    }
  }

  private mutating func link(_ relation: Relation, _ member: Int, _ owner: Int?) {
    let old = owners[relation]?[member]
    if old == owner { return }
    if let old, relation.shape == .oneToMany {
      changeList(relation, .owner, of: old) { $0.removeAll { $0 == member } }
    }
    setOwner(relation, of: member, to: owner)
    guard let owner else { return }
    if relation.shape == .oneToMany {
      changeList(relation, .owner, of: owner) { $0.append(member) }
    } else {
      // A player has one locker: the former one belongs to no player now.
      for (other, its) in owners[relation] ?? [:] where its == owner && other != member {
        setOwner(relation, of: other, to: nil)
      }
    }
  }

  private mutating func unpair(_ relation: Relation, _ member: Int, _ owner: Int) {
    changeList(relation, .owner, of: owner) { $0.removeAll { $0 == member } }
    changeList(relation, .member, of: member) { $0.removeAll { $0 == owner } }
  }

  private mutating func delete(_ key: Int, sparing moved: Set<Link>) {
    guard let row = rows.removeValue(forKey: key) else { return }
    for relation in Relation.allCases {
      if relation.members.contains(row.kind) {
        // The deleted row is a member: its owners no longer have it.
        if relation.shape == .manyToMany {
          for owner in list(relation, .member, of: key) { unpair(relation, key, owner) }
        } else {
          link(relation, key, nil)
        }
      }
      if relation.owners.contains(row.kind) { dropMembers(relation, of: key, sparing: moved) }
    }
  }

  private mutating func dropMembers(
    _ relation: Relation,
    of owner: Int,
    sparing moved: Set<Link>
  ) {
    switch relation.shape {
    case .manyToMany:
      for member in list(relation, .owner, of: owner) { unpair(relation, member, owner) }
    case .oneToOne:
      for (member, its) in owners[relation] ?? [:] where its == owner {
        setOwner(relation, of: member, to: nil)
      }
    case .oneToMany:
      // If the delete is denied, the members still name their owner, and the save finds it so.
      if relation.rule == .deny { return }
      for member in list(relation, .owner, of: owner) {
        link(relation, member, nil)
        let isMoved = moved.contains(Link(relation: relation, member: member))
        if relation.rule == .cascade, !isMoved { delete(member, sparing: moved) }
      }
    }
  }

  /// Members of deleted owners, if the rule denies that delete.
  var denied: [Int] {
    Relation.allCases.filter { $0.rule == .deny }.flatMap { relation in
      (owners[relation] ?? [:]).filter { contains($0.key) && !contains($0.value) }.map(\.key)
    }
  }
}

/// Draws settings and steps from a seed.
struct Generator {
  private var chance: Chance
  private var lastKey = 0
  private let stepCount: Int
  let setting: Setting
  /// The frequency with which a program releases the models it has found.
  private let holding: Int
  /// The steps between two saves, on average.
  private let saveInterval: Int
  /// Whether contexts change what others have not saved.
  private let crosses: Bool
  /// The context that saves next: its changes shall meet the unsaved ones of another.
  private var nextToSave: Int?

  init(seed: UInt64, kind: ScheduleKind, stepCount: Int) {
    var chance = Chance(seed: seed)
    self.stepCount = stepCount
    var setting = Setting()
    setting.onDisk = chance.oneIn(3)
    setting.lookInterval = [1, 1, 3, 7, 0][chance.below(5)]
    setting.freshLookInterval = [1, 2, 5, 0][chance.below(4)]
    switch kind {
    case .alone:
      setting.contexts = [Setting.Context(undoes: chance.oneIn(2), observes: chance.oneIn(4))]
    case .several:
      setting.contexts = (0..<2 + chance.below(2)).map { _ in Setting.Context() }
    case .merging:
      setting.contexts = (0..<2 + chance.below(2)).map { index in
        Setting.Context(
          merges: index == 0 || !chance.oneIn(3),
          autosaves: chance.oneIn(4),
          observes: chance.oneIn(5)
        )
      }
    case .threads, .crowd: preconditionFailure("threads are drawn apart")
    case .crossing:
      setting.containerCount = 1 + chance.below(2)
      setting.contexts = (0..<2 + chance.below(2)).map { index in
        Setting.Context(container: index % setting.containerCount, merges: chance.oneIn(3))
      }
    case .containers:
      setting.containerCount = 2
      setting.contexts = (0..<2 + chance.below(2)).map { index in
        Setting.Context(container: index % 2, merges: chance.oneIn(3))
      }
    }
    self.setting = setting
    crosses = kind == .crossing
    holding = chance.below(4)
    saveInterval = [3, 6, 12][chance.below(3)]
    self.chance = chance
  }

  /// The next step, about rows that the oracle says are there.
  mutating func next(in world: World) -> Operation {
    if let saving = nextToSave {
      nextToSave = nil
      return Operation(context: saving, action: .save)
    }
    let index = chance.below(world.contexts.count)
    let context = world.contexts[index]
    let view = context.oracle.view(of: world.committed)
    var crossing: Operation.Action?
    if crosses, chance.oneIn(3) { crossing = self.crossing(view, index, world) }
    if crossing != nil, nextToSave == nil, !chance.oneIn(3) { nextToSave = index }
    var operation = Operation(context: index, action: crossing ?? action(view, context))
    switch holding {
    case 0: operation.access = .held
    case 1: operation.access = [.held, .fetched, .identified, .searched][chance.below(4)]
    case 2: operation.access = .fetched
    default: operation.access = .identified
    }
    return operation
  }

  private mutating func action(_ view: OracleState, _ context: SimulatedContext) -> Operation.Action
  {
    if view.rows.count < 4 || view.rows.count < 24 && chance.oneIn(4) { return insertion(view) }
    if chance.oneIn(saveInterval) { return .save }
    switch chance.below(40) {
    case 0...4: return set(view)
    case 5, 6: return view.rows.keys.sorted().pick(&chance).map { .delete(key: $0) } ?? .look
    case 7:
      return chance.oneIn(3)
        ? .deleteWhere(Kind.allCases[chance.below(Kind.allCases.count)], group: chance.below(5))
        : set(view)
    case 8...14: return link(view)
    case 15...24: return editList(view)
    case 25...29: return .fetch(query())
    case 30: return .look
    case 31: return .release
    case 32: return .process
    case 33: return chance.oneIn(3) ? .rollback : .history
    case 34: return chance.oneIn(2) ? .reopen : .renew
    case 35...38:
      return context.setting.undoes ? (chance.oneIn(3) ? .redo : .undo) : editList(view)
    default: return chance.oneIn(4) ? .compact : .renew
    }
  }

  /// A step about a row that another context has changed or deleted, and not saved; `nil` if there is none.
  private mutating func crossing(
    _ view: OracleState,
    _ index: Int,
    _ world: World
  ) -> Operation.Action? {
    let others = world.contexts.enumerated().filter { $0.offset != index }.map(\.element.oracle)
    if chance.oneIn(3), let action = restating(view, index, world) { return action }
    let deleted = others.flatMap(\.deletedKeys).filter(view.contains)
    if let key = deleted.pick(&chance), !chance.oneIn(4) {
      return chance.oneIn(2) ? moving(from: key, view, world) : attaching(to: key, view)
    }
    let lists = others.flatMap { $0.touched.sorted { "\($0)" < "\($1)" } }
      .filter { view.contains($0.key) }
    guard let list = lists.pick(&chance) else { return nil }
    return edit(list.relation, list.end, key: list.key, view)
  }

  /// Repeats the present value of a to-one end here, if another context has set the end and saves next.
  private mutating func restating(
    _ view: OracleState,
    _ index: Int,
    _ world: World
  ) -> Operation.Action? {
    let moved = world.contexts.indices.filter { $0 != index }.flatMap { other in
      world.contexts[other].oracle.linkedEnds.compactMap { end in
        view.owner(end.relation, of: end.member).map { (other, end, $0) }
      }
    }
    guard let (other, end, owner) = moved.pick(&chance) else { return nil }
    nextToSave = other
    return .link(end.relation, member: end.member, owner: owner)
  }

  /// Gives a member of an owner that is deleted elsewhere another owner.
  private mutating func moving(
    from owner: Int,
    _ view: OracleState,
    _ world: World
  ) -> Operation.Action? {
    let members = Relation.allCases.filter { $0.shape != .manyToMany }.flatMap { relation in
      world.committed.members(relation, of: owner).filter(view.contains).map { (relation, $0) }
    }
    guard let (relation, member) = members.pick(&chance) else { return nil }
    let owners = view.keys(of: relation.owners).filter { $0 != owner }
    return .link(relation, member: member, owner: owners.pick(&chance))
  }

  /// Relates something to a row that is deleted elsewhere.
  private mutating func attaching(to key: Int, _ view: OracleState) -> Operation.Action? {
    guard let kind = view.rows[key]?.kind,
      let relation = Relation.allCases.filter({ $0.owners.contains(kind) }).pick(&chance),
      let member = view.keys(of: relation.members).pick(&chance)
    else { return nil }
    return relation.shape == .manyToMany
      ? .append(relation, .owner, key: key, member) : .link(relation, member: member, owner: key)
  }

  private mutating func set(_ view: OracleState) -> Operation.Action {
    guard let key = view.rows.keys.sorted().pick(&chance) else { return .look }
    let attribute: Attribute = [.value, .group, .note][chance.below(3)]
    return .set(key: key, attribute, attribute == .group ? chance.below(5) : chance.below(20))
  }

  private mutating func insertion(_ view: OracleState) -> Operation.Action {
    let kind = Kind.allCases[chance.below(Kind.allCases.count)]
    // Few tags, so that they meet.
    if kind == .tag { return .insert(.tag, key: 10_000 + chance.below(6), .plain) }
    lastKey += 1
    let relations = Relation.allCases.filter { $0.members.contains(kind) }
    guard !chance.oneIn(3), let relation = relations.pick(&chance),
      let owner = view.keys(of: relation.owners).pick(&chance)
    else { return .insert(kind, key: lastKey, .plain) }
    let insertion: Operation.Insertion =
      switch chance.below(4) {
      case 0: .linkedBefore(relation, owner: owner)
      case 1: .linkedAfter(relation, owner: owner)
      case 2: .linkedOnly(relation, owner: owner)
      default: .appended(relation, owner: owner)
      }
    return .insert(kind, key: lastKey, insertion)
  }

  private mutating func link(_ view: OracleState) -> Operation.Action {
    let relations = Relation.allCases.filter { $0.shape != .manyToMany }
    guard let relation = relations.pick(&chance),
      let member = view.keys(of: relation.members).pick(&chance)
    else { return .look }
    let owner = chance.oneIn(4) ? nil : view.keys(of: relation.owners).pick(&chance)
    if relation.shape == .oneToOne, chance.oneIn(2), let owner {
      return .linkPartner(relation, owner: owner, member: chance.oneIn(4) ? nil : member)
    }
    return .link(relation, member: member, owner: owner)
  }

  private mutating func editList(_ view: OracleState) -> Operation.Action {
    let relations = Relation.allCases.filter { $0.shape != .oneToOne }
    guard let relation = relations.pick(&chance) else { return .look }
    let end: End = relation.shape == .manyToMany && chance.oneIn(2) ? .member : .owner
    let own = view.keys(of: end == .owner ? relation.owners : relation.members)
    guard let key = own.pick(&chance) else { return .look }
    return edit(relation, end, key: key, view) ?? .look
  }

  /// A change of one list; `nil` if nothing can be in it.
  private mutating func edit(
    _ relation: Relation,
    _ end: End,
    key: Int,
    _ view: OracleState
  ) -> Operation.Action? {
    let others = view.keys(of: end == .owner ? relation.members : relation.owners)
    guard let other = others.pick(&chance) else { return nil }
    let list = view.list(relation, end, of: key)
    switch chance.below(6) {
    case 0, 1: return .append(relation, end, key: key, other)
    case 2: return .insertAt(relation, end, key: key, other, place: chance.below(list.count + 1))
    case 3:
      return .remove(relation, end, key: key, list.pick(&chance) ?? other)
    case 4: return .assign(relation, end, key: key, list.shuffled(using: &chance))
    default:
      let some = others.shuffled(using: &chance).prefix(chance.below(4))
      return .assign(relation, end, key: key, list.filter { _ in !chance.oneIn(3) } + some)
    }
  }

  private mutating func query() -> Query {
    var query = Query(kind: Kind.allCases[chance.below(Kind.allCases.count)])
    switch chance.below(7) {
    case 0: break
    case 6:
      query.condition = .word(chance.below(20))
      return query
    case 1: query.condition = .key(1 + chance.below(max(lastKey, 1)))
    case 2: query.condition = .group(chance.below(5))
    case 3: query.condition = .value(chance.below(20))
    case 4: query.condition = .valueAbove(chance.below(20))
    default: query.condition = .groupAndValueAbove(chance.below(5), chance.below(20))
    }
    query.sort = Query.Sort.allCases[chance.below(4)]
    query.call = Query.Call.allCases[chance.below(4)]
    if chance.oneIn(3) { query.limit = 1 + chance.below(4) }
    if chance.oneIn(4) { query.offset = chance.below(4) }
    return query
  }
}

extension Collection {
  fileprivate func pick(_ chance: inout Chance) -> Element? { chance.pick(self) }
}

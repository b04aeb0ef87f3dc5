/// Draws settings and steps from a seed.
struct Generator {
  private var chance: Chance
  private var lastKey = 0
  private let stepCount: Int
  let setting: Setting
  /// How often a program lets go of the models it has found.
  private let holding: Int
  /// The steps between two saves, on average.
  private let saveInterval: Int

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
    case .threads: preconditionFailure("threads are drawn apart")
    case .containers:
      setting.containerCount = 2
      setting.contexts = (0..<2 + chance.below(2)).map { index in
        Setting.Context(container: index % 2, merges: chance.oneIn(3))
      }
    }
    self.setting = setting
    holding = chance.below(4)
    saveInterval = [3, 6, 12][chance.below(3)]
    self.chance = chance
  }

  /// The next step, about rows that the oracle says are there.
  mutating func next(in world: World) -> Operation {
    let index = chance.below(world.contexts.count)
    let context = world.contexts[index]
    let view = context.oracle.view(of: world.committed)
    var operation = Operation(context: index, action: action(view, context))
    switch holding {
    case 0: operation.road = .held
    case 1: operation.road = [.held, .fetched, .identified, .searched][chance.below(4)]
    case 2: operation.road = .fetched
    default: operation.road = .identified
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
    let others = view.keys(of: end == .owner ? relation.members : relation.owners)
    guard let key = own.pick(&chance), let other = others.pick(&chance) else { return .look }
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
    switch chance.below(6) {
    case 0: break
    case 1: query.condition = .key(1 + chance.below(max(lastKey, 1)))
    case 2: query.condition = .group(chance.below(5))
    case 3: query.condition = .value(chance.below(20))
    case 4: query.condition = .valueAbove(chance.below(20))
    default: query.condition = .groupAndValueAbove(chance.below(5), chance.below(20))
    }
    query.sort = Query.Sort.allCases[chance.below(4)]
    query.road = Query.Road.allCases[chance.below(4)]
    if chance.oneIn(3) { query.limit = 1 + chance.below(4) }
    if chance.oneIn(4) { query.offset = chance.below(4) }
    return query
  }
}

extension Collection {
  fileprivate func pick(_ chance: inout Chance) -> Element? { chance.pick(self) }
}

extension Schedule {
  /// Draws rows to begin with, and what threads do with them.
  ///
  /// - Parameters:
  ///   - seed: The seed.
  ///   - stepCount: The number from which the number of steps is computed.
  ///   - isCrowded: Whether there are so many rows that fetches follow indexes.
  /// - Returns: The schedule of the seed.
  static func drawThreads(seed: UInt64, stepCount: Int, isCrowded: Bool) -> Schedule {
    var drawing = ThreadedDrawing(seed: seed, isCrowded: isCrowded)
    return drawing.schedule(stepCount: stepCount)
  }
}

/// Draws the steps of threads, which know of each other's rows by their keys only.
private struct ThreadedDrawing {
  private var chance: Chance
  private var setting = Setting()
  private var keys: [Kind: [Int]] = [:]
  private var lastKey = 0
  private let isCrowded: Bool

  init(seed: UInt64, isCrowded: Bool) {
    self.isCrowded = isCrowded
    chance = Chance(seed: seed)
    setting.threadSeed = chance.next()
    setting.onDisk = chance.oneIn(4)
    setting.threadCount = 2 + chance.below(2)
    setting.containerCount = 1 + chance.below(2)
    setting.lookInterval = 0
    setting.freshLookInterval = [0, 0, 1][chance.below(3)]
    setting.contexts = (0...setting.threadCount).map { number in
      Setting.Context(
        container: number % setting.containerCount,
        merges: number > 0 && chance.oneIn(3)
      )
    }
  }

  mutating func schedule(stepCount: Int) -> Schedule {
    var operations = beginning()
    // Few steps for each thread: orders are many already.
    for thread in 1...setting.threadCount {
      for _ in 0..<max(stepCount / 6, 4) {
        operations.append(Operation(context: thread, action: step(thread)))
      }
    }
    return Schedule(setting: setting, operations: operations)
  }

  private mutating func newKey(_ kind: Kind) -> Int {
    lastKey += 1
    keys[kind, default: []].append(lastKey)
    return lastKey
  }

  private mutating func beginning() -> [Operation] {
    var actions: [Operation.Action] = []
    for (kind, key) in zip([Kind.player, .captain], ThreadProgram.twins) {
      actions.append(.insert(kind, key: key, .plain))
    }
    for kind in Kind.allCases where kind != .tag {
      for _ in 0..<1 + chance.below(2) {
        actions.append(.insert(kind, key: newKey(kind), .plain))
      }
    }
    if isCrowded {
      // Through a table of fewer rows no index leads.
      for _ in 0..<66 { actions.append(.insert(.captain, key: newKey(.captain), .plain)) }
    }
    for relation in Relation.allCases where relation.shape != .oneToOne {
      guard let owner = any(relation.owners), let member = any(relation.members), owner != member,
        chance.oneIn(2)
      else { continue }
      actions.append(.append(relation, .owner, key: owner, member))
    }
    return (actions + [.save]).map { Operation(context: 0, action: $0) }
  }

  private mutating func any(_ kinds: [Kind]) -> Int? {
    chance.pick(kinds.flatMap { keys[$0] ?? [] })
  }

  private mutating func step(_ thread: Int) -> Operation.Action {
    if isCrowded, chance.oneIn(2) {
      return chance.oneIn(2)
        ? .set(key: ThreadProgram.twins[0], .value, 1 + chance.below(1_000))
        : .fetch(Query(kind: .player, condition: .group(chance.below(5)), sort: .none))
    }
    switch chance.below(24) {
    case 0...3: return .save
    case 4: return .renew
    case 5: return chance.oneIn(2) ? .process : .release
    case 6, 7: return .set(key: ThreadProgram.twins[0], .value, 1 + chance.below(1_000))
    case 8...11: return .fetch(query())
    case 12, 13: return insertion()
    case 14: return any(Kind.allCases).map { .delete(key: $0) } ?? .save
    case 15, 16:
      return any(Kind.allCases).map { .set(key: $0, .value, chance.below(20)) } ?? .save
    default: return link()
    }
  }

  private mutating func insertion() -> Operation.Action {
    let kind = Kind.allCases[chance.below(Kind.allCases.count)]
    if kind == .tag { return .insert(.tag, key: 10_000 + chance.below(2), .plain) }
    let relations = Relation.allCases.filter { $0.members.contains(kind) && $0.shape != .oneToOne }
    guard let relation = chance.pick(relations), let owner = any(relation.owners) else {
      return .insert(kind, key: newKey(kind), .plain)
    }
    return .insert(kind, key: newKey(kind), .linkedAfter(relation, owner: owner))
  }

  private mutating func link() -> Operation.Action {
    guard let relation = chance.pick(Relation.allCases.filter { $0 != .parts }),
      let owner = any(relation.owners), let member = any(relation.members)
    else { return .save }
    switch chance.below(5) {
    case 0 where relation.shape == .oneToMany:
      return .link(relation, member: member, owner: nil)
    case 1 where relation.shape != .oneToOne: return .remove(relation, .owner, key: owner, member)
    case 2 where relation.shape != .oneToOne: return .append(relation, .owner, key: owner, member)
    case 3 where relation.shape == .manyToMany:
      return .append(relation, .member, key: member, owner)
    default:
      return relation.shape == .manyToMany
        ? .append(relation, .owner, key: owner, member)
        : .link(relation, member: member, owner: owner)
    }
  }

  private mutating func query() -> Query {
    var query = Query(kind: .player)
    switch chance.below(5) {
    case 0: break
    case 4:
      query.condition = .word(chance.below(20))
      return query
    case 1: query.condition = .group(chance.below(5))
    case 2: query.condition = .valueAbove(chance.below(500))
    default: query.condition = .groupAndValueAbove(chance.below(5), chance.below(500))
    }
    query.sort = Query.Sort.allCases[chance.below(4)]
    return query
  }
}

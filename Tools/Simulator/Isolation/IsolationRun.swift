import Foundation
import SwiftData
import Synchronization

/// Threads and actors that save and fetch as fast as they can, over a store that is opened again and again, and the
/// history of what they saw.
///
/// Registers are players and captains, so that a fetch reads two tables, and their groups are indexed. Lists are
/// appended to through either end, one-to-many and many-to-many; an append that was saved has to stay. Tags with few
/// codes are upserted: of each there is one.
final class IsolationRun: @unchecked Sendable {
  private let folder: URL
  private let seed: UInt64
  private let clock = Atomic<UInt64>(1)
  private let values = Atomic<Int>(1)
  private let keys = Atomic<Int>(1_000_000)
  private let record = Mutex(Record())

  private struct Record: Sendable {
    var history = IsolationHistory()
    /// Saves by the names of their transactions.
    var byAuthor: [String: Int] = [:]
    /// The members that were appended to each list and saved.
    var appended: [OracleState.ListName: Set<Int>] = [:]
    var problems: [String] = []
  }

  static let registerCount = 6

  init(in folder: URL, seed: UInt64) {
    self.folder = folder
    self.seed = seed
  }

  /// Works for a while, then looks at the history.
  ///
  /// - Returns: The amount of work, and the phenomena that must not occur.
  func run(for duration: Duration, threadCount: Int) throws -> (
    saves: Int, fetches: Int, rounds: Int, problems: [String]
  ) {
    let end = ContinuousClock.now + duration
    var round = 0
    var known = 0
    try begin()
    repeat {
      round += 1
      let container = try open()
      let done = DispatchGroup()
      let stop = min(end, .now + .milliseconds(150))
      for number in 0..<threadCount {
        let thread = Thread { [round] in
          self.work(container, number, round, until: stop)
          done.leave()
        }
        done.enter()
        thread.stackSize = 4 << 20
        thread.start()
      }
      done.wait()
      try readOrder(container, &known)
      try compareLists(container, round)
    } while ContinuousClock.now < end
    let result = record.withLock { $0 }
    let findings = result.history.findings().map(\.description)
    return (
      result.history.saves.count, result.history.fetches.count, round, result.problems + findings
    )
  }

  private func open() throws -> ModelContainer {
    try ModelContainer(
      for: simulatedSchema,
      configurations: [
        ModelConfiguration(
          "isolation",
          schema: simulatedSchema,
          url: folder.appending(path: "isolation-\(seed).store")
        )
      ]
    )
  }

  private func tick() -> UInt64 { clock.add(1, ordering: .sequentiallyConsistent).newValue }
  private func newValue() -> Int { values.add(1, ordering: .relaxed).newValue }

  private func begin() throws {
    let context = ModelContext(try open())
    for register in 0..<Self.registerCount {
      let player = register.isMultiple(of: 2) ? Player(register) : Captain(register)
      context.insert(player)
    }
    for key in 100..<103 { context.insert(Team(key)) }
    for key in 200..<203 { context.insert(Badge(key)) }
    try context.save()
    record.withLock { record in
      for register in 0..<Self.registerCount { record.history.versions[register] = [0] }
    }
  }

  // MARK: A thread

  private func work(
    _ container: ModelContainer,
    _ number: Int,
    _ round: Int,
    until stop: ContinuousClock.Instant
  ) {
    var chance = Chance(seed: seed &+ UInt64(number) &* 1_000_003 &+ UInt64(round) &* 7_919)
    var context = ModelContext(container)
    var step = 0
    do {
      while ContinuousClock.now < stop {
        step += 1
        if chance.oneIn(8) { context = ModelContext(container) }
        if chance.oneIn(16) { context.automaticallyMergesChanges.toggle() }
        switch chance.below(8) {
        case 0, 1: try write(context, "\(round).\(number).\(step)", &chance)
        case 2, 3: try append(context, &chance)
        case 4: try upsert(context, &chance)
        default: try read(context, &chance)
        }
      }
    } catch {
      record.withLock { $0.problems.append("thread \(number), round \(round): \(error)") }
    }
  }

  private func registers(_ context: ModelContext) throws -> [Player] {
    let count = Self.registerCount
    return try context.fetch(FetchDescriptor<Player>(predicate: #Predicate { $0.key < count }))
  }

  private func write(_ context: ModelContext, _ author: String, _ chance: inout Chance) throws {
    var save = IsolationHistory.Save(writes: [:], begin: tick(), end: 0, isCommitted: false)
    for register in try registers(context) where chance.oneIn(2) {
      if chance.oneIn(3) {
        register.value = newValue()
        save.intermediate[register.key] = register.value
      }
      let value = newValue()
      register.value = value
      register.group = value % 5
      save.writes[register.key] = value
    }
    if save.writes.isEmpty { return }
    context.author = author
    defer { context.author = nil }
    if chance.oneIn(10) {
      context.rollback()
    } else {
      try context.save()
      save.isCommitted = true
    }
    save.end = tick()
    let finished = save
    record.withLock { record in
      record.byAuthor[author] = record.history.saves.count
      record.history.saves.append(finished)
    }
  }

  private func read(_ context: ModelContext, _ chance: inout Chance) throws {
    var query = Query(kind: .player)
    switch chance.below(3) {
    case 0: query.condition = .valueAbove(-1)
    case 1: query.condition = .group(chance.below(5))
    default: break
    }
    query.sort = Query.Sort.allCases[chance.below(4)]
    let begin = tick()
    guard case .models(let models) = try query.kind.driver.run(query, in: context) else { return }
    let end = tick()
    var reads: [Int: Int] = [:]
    for model in models where model.simulatedKey < Self.registerCount {
      reads[model.simulatedKey] = model.value
    }
    let fetch = IsolationHistory.Fetch(reads: reads, begin: begin, end: end)
    record.withLock { $0.history.fetches.append(fetch) }
  }

  private func append(_ context: ModelContext, _ chance: inout Chance) throws {
    let key = keys.add(1, ordering: .relaxed).newValue
    let isTeam = chance.oneIn(2)
    let owner = (isTeam ? 100 : 200) + chance.below(3)
    let player = Player(key)
    context.insert(player)
    if isTeam {
      guard let team = try Kind.team.driver.model(owner, in: context) as? Team else { return }
      if chance.oneIn(2) { player.team = team } else { team.players.append(player) }
    } else {
      guard let badge = try Kind.badge.driver.model(owner, in: context) as? Badge else { return }
      if chance.oneIn(2) { player.badges.append(badge) } else { badge.players.append(player) }
    }
    try context.save()
    let name = OracleState.ListName(
      relation: isTeam ? .players : .badges,
      end: .owner,
      key: owner
    )
    record.withLock { _ = $0.appended[name, default: []].insert(key) }
  }

  private func upsert(_ context: ModelContext, _ chance: inout Chance) throws {
    let code = 10_000 + chance.below(4)
    context.insert(Tag(code, code: code))
    try context.save()
  }

  // MARK: Between rounds

  /// Takes the order of commits from the history of the store.
  private func readOrder(_ container: ModelContainer, _ known: inout Int) throws {
    let context = ModelContext(container)
    let authors = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
      .compactMap(\.author)
    let new = authors.dropFirst(known)
    known = authors.count
    record.withLock { record in
      for author in new {
        guard let number = record.byAuthor[author] else { continue }
        for (register, value) in record.history.saves[number].writes {
          record.history.versions[register, default: []].append(value)
        }
      }
    }
    let found = Dictionary(
      try registers(context).map { ($0.key, $0.value) },
      uniquingKeysWith: { $1 }
    )
    record.withLock { record in
      for (register, versions) in record.history.versions where found[register] != versions.last {
        record.problems.append(
          "register \(register) is \(found[register] ?? -1) after all threads ended, and \(versions.last ?? -1) was saved last"
        )
      }
    }
  }

  /// Looks whether every append that was saved is there, at both ends, and once.
  private func compareLists(_ container: ModelContainer, _ round: Int) throws {
    let context = ModelContext(container)
    for (name, members) in record.withLock({ $0.appended }) {
      let kind: Kind = name.relation == .players ? .team : .badge
      guard let owner = try kind.driver.model(name.key, in: context) else { continue }
      let found = name.relation.list(.owner, of: owner)
      let keys = found.map(\.simulatedKey)
      if keys.count != Set(keys).count || Set(keys) != members {
        let lost = members.subtracting(keys).count
        record.withLock {
          $0.problems.append("round \(round): \(name) has \(keys.count) members, \(lost) were lost")
        }
      }
      for case let player as Player in found {
        let isBack =
          name.relation == .players
          ? player.team === owner : player.badges.contains { $0 === owner }
        if !isBack {
          record.withLock {
            $0.problems.append("\(name) holds \(player.key), which does not say so")
          }
        }
      }
    }
    let codes = try context.fetch(FetchDescriptor<Tag>()).map(\.code)
    if codes.count != Set(codes).count {
      record.withLock { $0.problems.append("round \(round): tags are not unique: \(codes)") }
    }
  }
}

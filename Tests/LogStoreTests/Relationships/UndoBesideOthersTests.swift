import Foundation
import LogEngineTestSupport
import SwiftData
import Testing

@testable import LogStore

// Contexts that undo what they have not saved, of models that others save meanwhile.

@Suite struct `Contexts that undo and redo beside others` {
  @Test(arguments: 1...runs)
  func `show after each save what is stored`(run: UInt64) throws {
    for seed in run * 100..<(run + 1) * 100 {
      var chance = SeededGenerator(seed: seed)
      let merging = chance.next()
      let steps = (0..<40).map { _ in UndoStep(&chance) }
      guard let failure = try UndoWorld(merging).run(steps) else { continue }
      let shortest = try shortened(steps, merging, failure)
      let last = try UndoWorld(merging).run(shortest) ?? failure
      Issue.record("seed \(seed), merging \(merging & 7): \(shortest) \(last.text)")
    }
  }

  /// Saved changes that are undone, of models of which others deleted one before the save.
  private static let formerFailures: [(merging: UInt64, steps: [UndoStep])] = [
    // A new member of a medal was in a team that comes back.
    (
      4,
      [
        UndoStep(0, .deleteTeam, 27, 57), UndoStep(1, .deletePlayer, 56, 38),
        UndoStep(0, .awardMedal, 46, 22), UndoStep(1, .save), UndoStep(0, .save),
        UndoStep(0, .undo),
      ]
    ),
    // A player who had left a team.
    (
      4,
      [
        UndoStep(0, .save), UndoStep(0, .clearTeam, 20, 33), UndoStep(1, .deletePlayer, 0, 12),
        UndoStep(1, .save), UndoStep(0, .save), UndoStep(0, .undo),
      ]
    ),
    // The same, whose own delete was taken back after theirs.
    (
      1,
      [
        UndoStep(0, .save), UndoStep(0, .clearTeam, 20, 33), UndoStep(0, .save),
        UndoStep(0, .deletePlayer, 0, 12), UndoStep(1, .deletePlayer, 0, 12), UndoStep(1, .save),
        UndoStep(0, .process), UndoStep(0, .undo), UndoStep(0, .undo),
      ]
    ),
    // The medal of a player who comes back.
    (
      1,
      [
        UndoStep(2, .deleteMedal, 42, 36), UndoStep(0, .deletePlayer, 17, 12), UndoStep(2, .save),
        UndoStep(0, .save), UndoStep(0, .undo),
      ]
    ),
    // A player whom another context has moved away comes back, and leaves again.
    (
      4,
      [
        UndoStep(2, .setTeam, 51, 8), UndoStep(2, .save), UndoStep(0, .insertMember, 51, 24),
        UndoStep(0, .save), UndoStep(0, .undo),
      ]
    ),
  ]

  @Test(arguments: formerFailures.indices)
  func `show what is stored where they did not once`(index: Int) throws {
    let (merging, steps) = Self.formerFailures[index]
    let failure = try UndoWorld(merging).run(steps)
    #expect(failure == nil, "\(steps) \(failure?.text ?? "")")
  }

  /// How many hundreds of schedules are tried: more of them, if the environment asks for it.
  private static var runs: UInt64 {
    ProcessInfo.processInfo.environment["LOGSTORE_UNDO_RUNS"].flatMap { UInt64($0) } ?? 2
  }

  /// The steps without those that a failure of the same kind does not need.
  private func shortened(
    _ steps: [UndoStep],
    _ merging: UInt64,
    _ failure: UndoFailure
  ) throws -> [UndoStep] {
    var shortest = steps
    var isShorter = true
    while isShorter {
      isShorter = false
      for index in shortest.indices.reversed() {
        var fewer = shortest
        fewer.remove(at: index)
        guard try UndoWorld(merging).run(fewer)?.kind == failure.kind else { continue }
        shortest = fewer
        isShorter = true
      }
    }
    return shortest
  }
}

/// A step of one of the contexts; two numbers choose the models, so that a step can do without others.
private struct UndoStep: CustomStringConvertible {
  enum Action: CaseIterable {
    case setTeam, clearTeam, appendMember, removeMember, insertMember, setMembers
    case awardMedal, returnMedal, appendPlayer, removePlayer, setPlayers
    case setCaptain, setPoints, deletePlayer, deleteTeam, deleteMedal, insertPlayer
    case addDeal, moveDeal
    case save, fetch, read, process, rollback, undo, redo
  }
  let context: Int
  let action: Action
  let a: Int
  let b: Int

  init(_ context: Int, _ action: Action, _ a: Int = 0, _ b: Int = 0) {
    self.context = context
    self.action = action
    self.a = a
    self.b = b
  }

  init(_ chance: inout SeededGenerator) {
    context = Int.random(in: 0..<3, using: &chance)
    let often: [Action] = [
      .save, .save, .save, .undo, .undo, .undo, .redo, .process, .fetch, .setTeam, .setTeam,
      .deletePlayer, .setPoints,
    ]
    let all = Action.allCases + often
    action = all[Int.random(in: 0..<all.count, using: &chance)]
    a = Int.random(in: 0..<60, using: &chance)
    b = Int.random(in: 0..<60, using: &chance)
  }

  var description: String { "\(context).\(action)(\(a), \(b))" }
}

/// What went wrong, and the relationships it is about.
private struct UndoFailure {
  let kind: String
  let text: String
}

/// What a context shows: of each model, the ends of its relationships.
private struct GraphView: Equatable, CustomStringConvertible {
  var lists: [String: [Int]] = [:]

  init(_ context: ModelContext) throws {
    for team in try context.fetch(FetchDescriptor<Team>()) {
      lists["team \(team.key) members"] = team.members.map(\.key)
      lists["team \(team.key) captain"] = team.captain.map { [$0.key] } ?? []
    }
    for player in try context.fetch(FetchDescriptor<Player>()) {
      lists["player \(player.key) team"] = player.team.map { [$0.key] } ?? []
      lists["player \(player.key) captainOf"] = player.captainOf.map { [$0.key] } ?? []
      lists["player \(player.key) medals"] = player.medals.map(\.key)
      lists["player \(player.key) deals"] = player.deals.map(\.key)
      lists["player \(player.key) points"] = [player.points]
    }
    for medal in try context.fetch(FetchDescriptor<Medal>()) {
      lists["medal \(medal.key) players"] = medal.players.map(\.key)
    }
    for deal in try context.fetch(FetchDescriptor<Deal>()) {
      lists["deal \(deal.key) player"] = deal.player.map { [$0.key] } ?? []
    }
  }

  func difference(from other: GraphView) -> (names: [String], text: String) {
    let names = Set(lists.keys).union(other.lists.keys).sorted().filter {
      lists[$0] != other.lists[$0]
    }
    return (
      names.map { $0.split(separator: " ").last.map(String.init) ?? "" },
      names.map {
        "\($0): \(lists[$0].map { "\($0)" } ?? "-") stored \(other.lists[$0].map { "\($0)" } ?? "-")"
      }
      .joined(separator: ", ")
    )
  }

  var description: String { "\(lists)" }
}

/// Three contexts of one store.
private final class UndoWorld {
  final class Side {
    let context: ModelContext
    var teams: [Team] = []
    var players: [Player] = []
    var medals: [Medal] = []
    var deals: [Deal] = []

    init(_ context: ModelContext) { self.context = context }

    func fetch() throws {
      teams = try context.fetch(FetchDescriptor<Team>(sortBy: [SortDescriptor(\.key)]))
      players = try context.fetch(FetchDescriptor<Player>(sortBy: [SortDescriptor(\.key)]))
      medals = try context.fetch(FetchDescriptor<Medal>(sortBy: [SortDescriptor(\.key)]))
      deals = try context.fetch(FetchDescriptor<Deal>(sortBy: [SortDescriptor(\.key)]))
    }

    func team(_ key: Int) -> Team? { pick(teams, key) }
    func player(_ key: Int) -> Player? { pick(players, key) }
    func medal(_ key: Int) -> Medal? { pick(medals, key) }
    func deal(_ key: Int) -> Deal? { pick(deals, key) }

    private func pick<M: PersistentModel>(_ models: [M], _ key: Int) -> M? {
      if models.isEmpty { return nil }
      let model = models[key % models.count]
      return model.isDeleted || model.modelContext == nil ? nil : model
    }
  }

  let container: ModelContainer
  var sides: [Side] = []
  var nextKey = 10

  /// Makes contexts, those of which merge by themselves whose bits are set.
  init(_ merging: UInt64) throws {
    let schema = Schema([
      Team.self, Player.self, Goalkeeper.self, Deal.self, Medal.self, Trophy.self,
    ])
    container = try ModelContainer(
      for: schema,
      configurations: ModelConfiguration(schema: schema, isStoredInMemoryOnly: true)
    )
    let context = ModelContext(container)
    let teams = (0..<3).map { Team($0) }
    let players = (0..<5).map { Player($0) }
    let medals = (0..<2).map { Medal($0) }
    for model in teams as [any PersistentModel] + players + medals { context.insert(model) }
    teams[0].members = Array(players[0..<3])
    teams[1].members = [players[3]]
    medals[0].players = Array(players[1..<4])
    teams[0].captain = players[1]
    players[0].deals = [Deal(0), Deal(1)]
    try context.save()
    for index in 0..<3 {
      let side = Side(ModelContext(container))
      side.context.automaticallyMergesChanges = merging & (1 << UInt64(index)) != 0
      side.context.undoManager = UndoManager()
      try side.fetch()
      sides.append(side)
    }
  }

  func run(_ steps: [UndoStep]) throws -> UndoFailure? {
    for step in steps {
      if let failure = try take(step) { return failure }
    }
    for index in sides.indices {
      if let failure = try save(index) { return failure }
    }
    for index in sides.indices {
      if let failure = try compare(index, "at the end") { return failure }
    }
    return nil
  }

  private func save(_ index: Int) throws -> UndoFailure? {
    let side = sides[index]
    do {
      try side.context.save()
    } catch {
      side.context.rollback()
    }
    return try compare(index, "after its save")
  }

  private func compare(_ index: Int, _ when: String) throws -> UndoFailure? {
    let context = sides[index].context
    if context.hasChanges { return nil }
    try sides[index].fetch()
    let shown = try GraphView(context)
    let stored = try GraphView(ModelContext(container))
    if shown != stored {
      let (names, text) = shown.difference(from: stored)
      return UndoFailure(
        kind: Set(names).sorted().joined(separator: "+"),
        text: "\(index) \(when) \(text)"
      )
    }
    let violations = context.invariantViolations()
    if !violations.isEmpty { return UndoFailure(kind: "invariant", text: "\(index) \(violations)") }
    let list = try container.storedListViolations()
    if !list.isEmpty { return UndoFailure(kind: "stored", text: "\(index) \(list)") }
    return nil
  }

  private func take(_ step: UndoStep) throws -> UndoFailure? {
    let side = sides[step.context]
    let context = side.context
    let (a, b) = (step.a, step.b)
    switch step.action {
    case .setTeam: side.player(a)?.team = side.team(b)
    case .clearTeam: side.player(a)?.team = nil
    case .appendMember: if let player = side.player(a) { side.team(b)?.members.append(player) }
    case .removeMember:
      if let team = side.team(b), !team.members.isEmpty {
        team.members.remove(at: a % team.members.count)
      }
    case .insertMember:
      if let player = side.player(a), let team = side.team(b),
        !team.members.contains(where: { $0 === player })
      {
        team.members.insert(player, at: (a + b) % (team.members.count + 1))
      }
    case .setMembers: if let team = side.team(b) { team.members = team.members.reversed() }
    case .awardMedal: if let medal = side.medal(b) { side.player(a)?.medals.append(medal) }
    case .returnMedal:
      if let player = side.player(a), !player.medals.isEmpty {
        player.medals.remove(at: b % player.medals.count)
      }
    case .appendPlayer: if let player = side.player(a) { side.medal(b)?.players.append(player) }
    case .removePlayer:
      if let medal = side.medal(b), !medal.players.isEmpty {
        medal.players.remove(at: a % medal.players.count)
      }
    case .setPlayers: if let medal = side.medal(b) { medal.players = medal.players.reversed() }
    case .setCaptain: if let team = side.team(b) { team.captain = side.player(a) }
    case .setPoints: side.player(a)?.points += 1
    case .deletePlayer: if let player = side.player(a) { context.delete(player) }
    case .deleteTeam: if let team = side.team(b) { context.delete(team) }
    case .deleteMedal: if let medal = side.medal(b) { context.delete(medal) }
    case .insertPlayer:
      let player = Player(nextKey)
      nextKey += 1
      context.insert(player)
      player.team = side.team(b)
      side.players.append(player)
    case .addDeal:
      let deal = Deal(nextKey)
      nextKey += 1
      context.insert(deal)
      deal.player = side.player(a)
      side.deals.append(deal)
    case .moveDeal: side.deal(b)?.player = side.player(a)
    case .save: return try save(step.context)
    case .fetch:
      try side.fetch()
    case .read:
      if let team = side.team(b) { _ = team.members.count }
      if let medal = side.medal(b) { _ = medal.players.count }
      if let player = side.player(a) { _ = player.medals.count }
    case .process: context.processPendingChanges()
    case .rollback: context.rollback()
    case .undo: context.undoManager?.undo()
    case .redo: context.undoManager?.redo()
    }
    return nil
  }
}

@Suite struct `An undo of what others have changed, too` {
  private let club: Club
  private let context: ModelContext
  private let other: ModelContext

  init() throws {
    club = try Club()
    try club.context { context in
      let teams = (0..<3).map { Team($0) }
      for team in teams { context.insert(team) }
      context.insert(Medal(0))
      teams[0].members = (0..<3).map { Player($0) }
    }
    context = ModelContext(club.container)
    context.undoManager = UndoManager()
    other = ModelContext(club.container)
  }

  /// Compares a team's members with those of a new context, after both sides have saved.
  private func expectMembers(_ keys: [Int], of team: Int) throws {
    try other.save()
    try context.save()
    #expect(try context.team(team).members.map(\.key) == keys)
    #expect(try ModelContext(club.container).team(team).members.map(\.key) == keys)
    #expect(context.invariantViolations() == [])
    #expect(try club.container.storedListViolations() == [])
  }

  @Test func `does not bring back what they deleted`() throws {
    #expect(try context.team(0).members.count == 3)
    let player = try context.player(0)
    other.delete(try other.player(0))
    try other.save()
    context.delete(player)
    context.undoManager?.undo()
    try expectMembers([1, 2], of: 0)
  }

  @Test func `leaves a member out of the list that they moved it to`() throws {
    let team = try context.team(0)
    context.delete(team)
    try other.player(0).team = try other.team(2)
    try other.save()
    try context.save()
    #expect(try context.team(2).members.count <= 1)
    context.undoManager?.undo()
    try context.save()
    let stored = try ModelContext(club.container).team(2).members.map(\.key)
    try expectMembers(stored, of: 2)
  }

  @Test(arguments: Joining.allCases)
  fileprivate func `moves a player back to where they had moved it`(_ joining: Joining) throws {
    // Read before they move it.
    let player = try context.player(1)
    #expect(player.team?.key == 0)
    try other.player(1).team = try other.team(2)
    try other.save()
    let team = try context.team(0)
    switch joining {
    case .append: team.members.append(player)
    case .insert: team.members.insert(player, at: 2)
    case .assign: team.members += [player]
    }
    #expect(team.members.map(\.key) == [0, 2, 1])
    try context.save()
    #expect(try ModelContext(club.container).team(0).members.map(\.key) == [0, 2, 1])
    context.undoManager?.undo()
    #expect(team.members.map(\.key) == [0, 2])
    #expect(player.team?.key == 2)
    try expectMembers([0, 2], of: 0)
    try expectMembers([1], of: 2)
  }

  /// How a player joins a team from the list's end.
  fileprivate enum Joining: CaseIterable { case append, insert, assign }

  @Test func `leaves out of a list whose order it restores what they took out`() throws {
    let team = try context.team(0)
    team.members.reverse()
    try other.player(0).team = nil
    try other.save()
    try context.save()
    context.undoManager?.undo()
    try expectMembers([1, 2], of: 0)
  }

  @Test func `keeps a member once more, and forgets it with the redo`() throws {
    try context.player(0).team = try context.team(0)
    try context.save()
    context.undoManager?.undo()
    context.undoManager?.redo()
    try other.player(0).team = try other.team(2)
    try expectMembers([1, 2], of: 0)
    try expectMembers([0], of: 2)
  }

  @Test func `gives a deleted model back without the medal that they awarded meanwhile`() throws {
    context.delete(try context.player(0))
    try other.player(0).medals.append(try other.medal(0))
    try other.save()
    try context.save()
    context.undoManager?.undo()
    try context.save()
    #expect(try context.player(0).medals.isEmpty && context.medal(0).players.isEmpty)
    try expectMembers([0, 1, 2], of: 0)
  }

  @Test func `gives a deleted player back without the medal that they deleted meanwhile`() throws {
    try award(toPlayers: [0, 1])
    context.delete(try context.player(0))
    other.delete(try other.medal(0))
    try other.save()
    try context.save()
    context.undoManager?.undo()
    try expectMembers([0, 1, 2], of: 0)
    #expect(try ModelContext(club.container).fetchCount(FetchDescriptor<Medal>()) == 0)
    #expect(try context.player(0).medals.isEmpty && context.player(1).medals.isEmpty)
  }

  @Test func `gives a deleted team back without the player that they deleted meanwhile`() throws {
    try award(toPlayers: [1])
    let team = try context.team(0)
    let (player, medal) = (try context.player(0), try context.medal(0))
    context.delete(team)
    player.medals.append(medal)
    other.delete(try other.player(0))
    try other.save()
    try context.save()
    context.undoManager?.undo()
    try expectMembers([1, 2], of: 0)
    #expect(try context.medal(0).players.map(\.key) == [1])
  }

  @Test func `does not delete once more what they deleted after it was inserted here`() throws {
    let team = try context.team(0)
    context.undoManager?.beginUndoGrouping()
    let player = Player(7)
    context.insert(player)
    player.team = team
    context.undoManager?.endUndoGrouping()
    try context.save()
    other.delete(try other.player(7))
    try other.save()
    player.team = nil
    try context.save()
    context.undoManager?.undo()
    context.undoManager?.undo()
    #expect(!context.hasChanges)
    #expect(context.invariantViolations() == [])
    try expectMembers([0, 1, 2], of: 0)
  }

  @Test func `keeps two deleted models related that come back together`() throws {
    try award(toPlayers: [0, 1])
    context.delete(try context.player(0))
    context.delete(try context.medal(0))
    try context.save()
    context.undoManager?.undo()
    try expectMembers([0, 1, 2], of: 0)
    #expect(try context.medal(0).players.map(\.key) == [0, 1])
    #expect(try context.player(0).medals.count == 1)
  }

  private func award(toPlayers keys: [Int]) throws {
    let context = ModelContext(club.container)
    let medal = try context.medal(0)
    for key in keys { medal.players.append(try context.player(key)) }
    try context.save()
  }
}

import Foundation
import SwiftData
import Testing

@testable import LogStore

// Lists that a context has put together, and that others have changed since.

@Suite struct `A list that is out of date in its context` {
  let club: Club

  init() throws { club = try Club() }

  /// The lists of many to many, by the keys of their owners, as a new context reads them.
  private func storedLists() throws -> (players: [Int: [Int]], medals: [Int: [Int]]) {
    #expect(try club.container.storedListViolations() == [])
    let context = ModelContext(club.container)
    let medals = try context.fetch(FetchDescriptor<Medal>())
    let players = try context.fetch(FetchDescriptor<Player>())
    return (
      Dictionary(uniqueKeysWithValues: medals.map { ($0.key, $0.players.map(\.key)) }),
      Dictionary(uniqueKeysWithValues: players.map { ($0.key, $0.medals.map(\.key)) })
    )
  }

  @Test(arguments: [false, true])
  func `takes a member in again that another context has taken out`(
    atTheOtherEnd: Bool
  ) throws {
    let first = try club.context { context in
      let medal = Medal(0)
      context.insert(medal)
      medal.players = [Player(1)]
    }
    let second = ModelContext(club.container)
    let (medal, player) = (try second.medal(0), try second.player(1))
    #expect(medal.players.count == 1 && player.medals.count == 1)
    try first.medal(0).players.removeAll()
    try first.save()
    // One end is read again with the fetch; the other one is still what it was.
    if atTheOtherEnd {
      _ = try second.fetch(FetchDescriptor<Player>())
      medal.players.append(player)
    } else {
      _ = try second.fetch(FetchDescriptor<Medal>())
      player.medals.append(medal)
    }
    #expect(medal.players.map(\.key) == [1])
    #expect(player.medals.map(\.key) == [0])
    try second.save()
    let stored = try storedLists()
    #expect(stored.players == [0: [1]])
    #expect(stored.medals == [1: [0]])
  }

  @Test func `leaves a member in its place that two contexts have added`() throws {
    try club.context { context in
      for key in [2, 3] { context.insert(Player(key)) }
      context.insert(Team(8))
    }
    let (first, second) = (ModelContext(club.container), ModelContext(club.container))
    second.automaticallyMergesChanges = true
    try second.player(3).team = try second.team(8)
    try first.player(3).team = try first.team(8)
    try first.player(2).team = try first.team(8)
    try first.save()
    // Merging what the first has saved drops the row of the member.
    try second.save()
    #expect(try ModelContext(club.container).team(8).members.map(\.key) == [3, 2])
  }

  @Test func `loses a new member that another context has deleted, also where it was put`() throws {
    let first = try club.context { context in
      for key in [9, 10, 14] { context.insert(Player(key)) }
      context.insert(Team(12))
    }
    let second = ModelContext(club.container)
    let team = try second.team(12)
    team.members = [try second.player(10), try second.player(14)]
    team.members.insert(try second.player(9), at: 1)
    first.delete(try first.player(9))
    try first.save()
    try second.save()
    #expect(team.members.map(\.key) == [10, 14])
    #expect(second.invariantViolations() == [])
    #expect(try ModelContext(club.container).team(12).members.map(\.key) == [10, 14])
  }

  @Test func `has the members again that a rollback gives back`() throws {
    try club.context { context in
      context.insert(Player(4))
      context.insert(Team(5))
    }
    let (first, second) = (ModelContext(club.container), ModelContext(club.container))
    let player = try second.player(4)
    player.team = nil
    try first.team(5).members = [try first.player(4)]
    try first.save()
    let team = try second.team(5)
    // What is set here is nil, whatever others have saved.
    #expect(team.members.isEmpty)
    second.rollback()
    #expect(player.team === team)
    #expect(team.members.map(\.key) == [4])
  }

  @Test func `keeps the order of its new members when an upsert merges others`() throws {
    let schema = Schema([Rack.self, Disc.self])
    let container = try ModelContainer(
      for: schema,
      configurations: ModelConfiguration(schema: schema, isStoredInMemoryOnly: true)
    )
    let (first, second) = (ModelContext(container), ModelContext(container))
    let (rack, former, latter) = (Rack(1), Disc(12), Disc(8))
    for model in [rack, former, latter] as [any PersistentModel] { first.insert(model) }
    former.rack = rack
    try first.save()
    second.insert(Disc(5))
    try second.save()
    former.rack = nil
    first.insert(Disc(5))
    latter.rack = rack
    rack.discs.append(former)
    try first.save()
    let stored = try #require(try ModelContext(container).fetch(FetchDescriptor<Rack>()).first)
    #expect(stored.discs.map(\.number) == [8, 12])
  }
}

@Suite struct `Undoing a saved change of lists of many to many` {
  private func context() throws -> ModelContext {
    let schema = Schema([Medal.self, Player.self, Deal.self, Team.self, Trophy.self])
    let container = try ModelContainer(
      for: schema,
      configurations: ModelConfiguration(schema: schema, isStoredInMemoryOnly: true)
    )
    let context = ModelContext(container)
    context.undoManager = UndoManager()
    return context
  }

  @Test func `brings members back with an insertion that is made again`() throws {
    let context = try context()
    let medal = Medal(9)
    context.insert(medal)
    context.processPendingChanges()
    let player = Player(19)
    context.insert(player)
    player.medals.append(medal)
    try context.save()
    context.undoManager?.undo()
    try context.save()
    context.undoManager?.redo()
    #expect(player.medals.map(\.key) == [9])
    try context.save()
    #expect(player.medals.map(\.key) == [9])
    #expect(medal.players.map(\.key) == [19])
    #expect(try context.container.storedListViolations() == [])
  }

  @Test(arguments: [false, true])
  func `brings members back with a delete that is taken back`(isRead: Bool) throws {
    let context = try context()
    let medal = Medal(3)
    context.insert(medal)
    try context.save()
    let player = Player(10)
    medal.players.append(player)
    context.processPendingChanges()
    context.delete(medal)
    try context.save()
    context.undoManager?.undo()
    if isRead { _ = try context.fetch(FetchDescriptor<Player>()) }
    #expect(medal.players.map(\.key) == [10])
    try context.save()
    #expect(medal.players.map(\.key) == [10])
    #expect(player.medals.map(\.key) == [3])
    #expect(try context.container.storedListViolations() == [])
  }
}

@Suite struct `A model that is inserted again after its delete was saved` {
  @Test func `has its attributes, and no relationships of the row it was`() throws {
    let club = try Club()
    let context = try club.context { context in
      let (medal, team, player) = (Medal(0), Team(1), Player(2))
      context.insert(medal)
      context.insert(team)
      player.points = 7
      team.members = [player]
      medal.players = [player]
    }
    let player = try context.player(2)
    context.delete(player)
    try context.save()
    context.insert(player)
    try context.save()
    #expect(player.points == 7)
    #expect(player.team == nil && player.medals.isEmpty)
    let other = ModelContext(club.container)
    let stored = try other.player(2)
    #expect(stored.points == 7)
    #expect(stored.team == nil && stored.medals.isEmpty)
    #expect(try other.medal(0).players.isEmpty && other.team(1).members.isEmpty)
    #expect(try club.container.storeInvariantViolations() == [])
  }
}

@Model final class Rack {
  var key: Int
  @Relationship(inverse: \Disc.rack) var discs: [Disc] = []
  init(_ key: Int) { self.key = key }
}

@Model final class Disc {
  @Attribute(.unique) var number: Int
  var rack: Rack?
  init(_ number: Int) { self.number = number }
}

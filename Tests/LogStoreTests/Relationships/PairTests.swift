import Foundation
import LogStore
import SwiftData
import Testing

// Player.captainOf and Team.captain are the ends of a one-to-one.

@Suite struct `One-to-one relationships that several contexts set` {
  let club: Club
  let first: ModelContext
  let second: ModelContext

  init() throws {
    club = try Club()
    try club.context { context in
      for key in 1...2 {
        context.insert(Team(key))
        context.insert(Player(key))
      }
    }
    first = ModelContext(club.container)
    second = ModelContext(club.container)
  }

  /// The team that each player leads, and the captain of each team, as a context has them.
  private func pairs(
    in context: ModelContext
  ) throws -> (captainOf: [Int: Int], captain: [Int: Int]) {
    var (captainOf, captain): ([Int: Int], [Int: Int]) = ([:], [:])
    for player in try context.fetch(FetchDescriptor<Player>()) {
      captainOf[player.key] = player.captainOf?.key
    }
    for team in try context.fetch(FetchDescriptor<Team>()) { captain[team.key] = team.captain?.key }
    return (captainOf, captain)
  }

  private func expect(_ expected: [Int: Int], in context: ModelContext? = nil) throws {
    let found = try pairs(in: context ?? ModelContext(club.container))
    #expect(found.captainOf == expected)
    #expect(found.captain == Dictionary(uniqueKeysWithValues: expected.map { ($1, $0) }))
  }

  /// Which end of a pair is set.
  enum End: CaseIterable { case team, player }

  private func pair(_ player: Int, _ team: Int, _ end: End, in context: ModelContext) throws {
    let (player, team) = (try context.player(player), try context.team(team))
    switch end {
    case .team: team.captain = player
    case .player: player.captainOf = team
    }
  }

  /// One end was known before another context's save, and the other one after it.
  @Test func `agree in the store after an undo that restores both`() throws {
    second.undoManager = UndoManager()
    let team = try second.team(1)
    team.captain = nil
    second.processPendingChanges()
    try pair(1, 1, .team, in: first)
    try first.save()
    try second.player(1).captainOf = team
    second.processPendingChanges()
    try second.save()
    second.undoManager?.undo()
    try second.save()
    for context in [second, ModelContext(club.container)] {
      let found = try pairs(in: context)
      #expect(found.captain == Dictionary(uniqueKeysWithValues: found.captainOf.map { ($1, $0) }))
    }
  }

  @Test(arguments: End.allCases, End.allCases)
  func `agree in the store, and the last save wins`(one: End, other: End) throws {
    try pair(1, 1, one, in: first)
    try pair(2, 1, other, in: second)
    try first.save()
    try expect([1: 1])
    try second.save()
    try expect([2: 1])
  }

  @Test(arguments: End.allCases)
  func `of one player to two teams agree in the store`(end: End) throws {
    try pair(1, 1, end, in: first)
    try pair(1, 2, end, in: second)
    try first.save()
    try second.save()
    try expect([1: 2])
  }

  @Test(arguments: End.allCases)
  func `that are not saved are seen at both ends`(end: End) throws {
    try pair(1, 1, end, in: first)
    try pair(1, 2, end, in: second)
    try second.save()
    try expect([1: 1], in: first)
    try first.save()
    try expect([1: 1])
  }

  @Test func `that are set to what they were are kept`() throws {
    try pair(1, 1, .team, in: first)
    try first.save()
    try pair(1, 1, .player, in: second)
    try first.team(1).captain = nil
    try first.save()
    try expect([1: 1], in: second)
    try second.save()
    try expect([1: 1])
  }

  @Test func `stay as others have set them when a former partner is deleted`() throws {
    try pair(1, 1, .team, in: first)
    try first.save()
    second.delete(try second.player(1))
    try first.team(1).captain = first.player(2)
    try first.save()
    try second.save()
    let (captainOf, captain) = try pairs(in: ModelContext(club.container))
    #expect(captainOf == [2: 1])
    #expect(captain == [1: 2])
  }

  @Test func `stay as others have set them when a former partner goes to somebody else`() throws {
    try pair(1, 1, .team, in: first)
    try first.save()
    try pair(2, 1, .team, in: second)
    // Nothing says that player 1, who has lost the first team here, may not lead the second.
    try pair(1, 2, .player, in: first)
    try first.save()
    try expect([1: 2, 2: 1], in: second)
    try second.save()
    try expect([1: 2, 2: 1])
  }

  @Test func `agree after saves of many tasks at once`() async throws {
    let container = club.container
    await withTaskGroup(of: Void.self) { group in
      for task in 1...4 {
        group.addTask {
          for round in 0..<24 {
            let context = ModelContext(container)
            let (team, player) = (1 + (task + round) % 2, 1 + round / 2 % 2)
            guard let team = try? context.team(team), let player = try? context.player(player)
            else { continue }
            if task % 2 == 0 { team.captain = player } else { player.captainOf = team }
            try? context.save()
          }
        }
      }
    }
    let found = try pairs(in: ModelContext(container))
    #expect(
      found.captain == Dictionary(uniqueKeysWithValues: found.captainOf.map { ($1, $0) })
    )
  }
}

@Suite struct `Relationships that are set beside others' saves` {
  let club: Club
  let first: ModelContext
  let second: ModelContext

  init() throws {
    club = try Club()
    first = try club.context { context in
      context.insert(Team(1))
      context.insert(Team(2))
      context.insert(Medal(0))
      for key in 1...3 { context.insert(Player(key)) }
    }
    second = ModelContext(club.container)
  }

  private func members(_ key: Int, in context: ModelContext? = nil) throws -> [Int] {
    try (context ?? ModelContext(club.container)).team(key).members.map(\.key)
  }

  @Test func `to what they were are set all the same`() throws {
    try first.player(1).team = first.team(1)
    try first.save()
    try second.player(1).team = second.team(1)
    try first.player(1).team = nil
    try first.save()
    #expect(try members(1, in: second) == [1])
    #expect(try second.player(1).team?.key == 1)
    try second.save()
    #expect(try members(1) == [1])
  }

  @Test func `to what they were keep the place in the list`() throws {
    try first.team(1).members = [first.player(1), first.player(2)]
    try first.save()
    try second.player(1).team = second.team(1)
    #expect(try members(1, in: second) == [1, 2])
    try second.save()
    #expect(try members(1) == [1, 2])
  }

  @Test func `keep the place that another save has given them`() throws {
    try second.team(1).members.append(second.player(1))
    try first.team(1).members = [first.player(1), first.player(2), first.player(3)]
    try first.save()
    try second.save()
    #expect(try members(1) == [1, 2, 3])
    #expect(try members(1, in: second) == [1, 2, 3])
  }

  @Test func `put a member last that left and came back`() throws {
    try first.team(1).members = [first.player(1), first.player(2)]
    try first.save()
    let (team, player) = (try second.team(1), try second.player(1))
    player.team = nil
    player.team = team
    #expect(try members(1, in: second) == [2, 1])
    try second.save()
    #expect(try members(1) == [2, 1])
  }

  @Test func `of many to many keep the place that another save has given them`() throws {
    try second.medal(0).players.append(second.player(1))
    try first.medal(0).players = [first.player(1), first.player(2)]
    try first.save()
    try second.save()
    #expect(try ModelContext(club.container).medal(0).players.map(\.key) == [1, 2])
  }

  @Test func `of many to many lose a member that both have added and one took out`() throws {
    let medal = try second.medal(0)
    medal.players.append(try second.player(1))
    try first.medal(0).players.append(first.player(1))
    try first.save()
    medal.players.removeAll()
    try second.save()
    let third = ModelContext(club.container)
    #expect(try third.medal(0).players.isEmpty)
    #expect(try third.player(1).medals.isEmpty)
  }

  @Test func `survive the delete of the model they led to before`() throws {
    try first.player(1).team = first.team(1)
    try first.save()
    second.delete(try second.team(1))
    try first.player(1).team = first.team(2)
    try first.save()
    try second.save()
    #expect(try ModelContext(club.container).player(1).team?.key == 2)
    #expect(try members(2) == [1])
  }

  @Test func `move a member out of the list it was in, also where that is not read again`() throws {
    let one = try first.team(1)
    one.members = [try first.player(1)]
    try first.save()
    #expect(one.members.count == 1)
    try second.player(1).team = second.team(2)
    try second.save()
    let player = try first.player(1)
    player.points = 1
    try first.save()
    first.delete(player)
    #expect(one.members.isEmpty)
    #expect(try members(2, in: first).isEmpty)
  }
}

@Suite struct `Values that a context has saved` {
  @Test(arguments: [false, true])
  func `are refreshed by its next fetch`(isInserted: Bool) throws {
    let club = try Club()
    let first = ModelContext(club.container)
    let player = Player(1)
    first.insert(player)
    try first.save()
    if !isInserted {
      player.points = 1
      try first.save()
    }
    let second = ModelContext(club.container)
    try second.player(1).points = 5
    try second.save()
    #expect(try first.fetch(FetchDescriptor<Player>()).first === player)
    #expect(player.points == 5)
  }

  @Test func `are refreshed when another property is read from the row`() throws {
    let club = try Club()
    let first = ModelContext(club.container)
    let player = Player(1)
    first.insert(player)
    try first.save()
    let second = ModelContext(club.container)
    try second.player(1).points = 5
    try second.save()
    #expect(player.team == nil)
    #expect(try first.fetch(FetchDescriptor<Player>()).first?.points == 5)
  }

  @Test func `are refreshed though others saved the object in between`() throws {
    let club = try Club()
    let first = ModelContext(club.container)
    let player = Player(1)
    first.insert(player)
    first.insert(Team(1))
    try first.save()
    #expect(player.points == 0)
    player.team = try first.team(1)
    let second = ModelContext(club.container)
    try second.player(1).points = 5
    try second.save()
    try first.save()
    #expect(try first.player(1).points == 5)
  }
}

import Foundation
import SwiftData
import Testing

@testable import LogStore

// Undo after a save: a member left a list that the context had not loaded, and comes back.

@Suite struct `Undoing a saved move out of a list that is not in memory` {
  let club: Club
  let context: ModelContext

  init() throws {
    club = try Club()
    _ = try club.context { context in
      let (team, medal) = (Team(1), Medal(1))
      context.insert(team)
      context.insert(medal)
      context.insert(Team(2))
      let players = (0..<5).map { Player($0) }
      team.members = players
      medal.players = players
    }
    context = ModelContext(club.container)
    context.undoManager = UndoManager()
  }

  /// The keys of a team's members, as another context reads them.
  private var storedMembers: [Int] {
    get throws { try ModelContext(club.container).team(1).members.map(\.key) }
  }

  @Test(arguments: [[0], [2], [4], [1, 2], [3, 1], [0, 4], [4, 3, 2, 1, 0]], [false, true])
  func `puts the members back to their places`(moved: [Int], isReadBeforeSave: Bool) throws {
    let other = try context.team(2)
    for key in moved { try context.player(key).team = other }
    try context.save()
    #expect(try storedMembers == (0..<5).filter { !moved.contains($0) })
    context.undoManager?.undo()
    if isReadBeforeSave { #expect(try context.team(1).members.map(\.key) == [0, 1, 2, 3, 4]) }
    try context.save()
    #expect(try context.team(1).members.map(\.key) == [0, 1, 2, 3, 4])
    #expect(try storedMembers == [0, 1, 2, 3, 4])
    #expect(try ModelContext(club.container).team(2).members.isEmpty)
  }

  @Test func `puts each member back to its place, one after the other`() throws {
    let other = try context.team(2)
    for key in [1, 3] {
      try context.player(key).team = other
      context.processPendingChanges()
    }
    try context.save()
    context.undoManager?.undo()
    #expect(try context.team(1).members.map(\.key) == [0, 2, 3, 4])
    context.undoManager?.undo()
    #expect(try context.team(1).members.map(\.key) == [0, 1, 2, 3, 4])
    context.undoManager?.redo()
    #expect(try context.team(1).members.map(\.key) == [0, 2, 3, 4])
    try context.save()
    #expect(try storedMembers == [0, 2, 3, 4])
  }

  @Test func `shows and saves one order when one of two moves back and forth is undone`() throws {
    let (one, two) = (try context.team(1), try context.team(2))
    let last = Player(7)
    last.team = two
    try context.save()
    context.undoManager?.removeAllActions()
    two.members.append(contentsOf: one.members)
    context.processPendingChanges()
    one.members.append(contentsOf: two.members)
    context.undoManager?.undo()
    #expect(two.members.map(\.key) == [7, 0, 1, 2, 3, 4])
    try context.save()
    #expect(two.members.map(\.key) == [7, 0, 1, 2, 3, 4])
    #expect(
      try ModelContext(club.container).team(2).members.map(\.key) == [7, 0, 1, 2, 3, 4]
    )
  }

  @Test(arguments: [0, 2, 4], [false, true])
  func `puts a member back to its place after others came back, and were saved, before it`(
    deleted: Int,
    withOwner: Bool
  ) throws {
    context.delete(try context.player(deleted))
    try context.save()
    if withOwner {
      context.delete(try context.team(1))
    } else {
      let other = try context.team(2)
      for key in 0..<5 where key != deleted { try context.player(key).team = other }
    }
    try context.save()
    context.undoManager?.undo()
    #expect(try context.team(1).members.map(\.key) == (0..<5).filter { $0 != deleted })
    try context.save()
    context.undoManager?.undo()
    try context.save()
    #expect(try context.team(1).members.map(\.key) == [0, 1, 2, 3, 4])
    #expect(try storedMembers == [0, 1, 2, 3, 4])
  }

  @Test func `keeps behind them what came since`() throws {
    try context.player(2).team = nil
    try context.save()
    context.processPendingChanges()
    context.undoManager?.disableUndoRegistration()
    let newcomer = Player(9)
    newcomer.team = try context.team(1)
    context.undoManager?.enableUndoRegistration()
    context.undoManager?.undo()
    #expect(try context.team(1).members.map(\.key) == [0, 1, 2, 3, 4, 9])
    try context.save()
    #expect(try storedMembers == [0, 1, 2, 3, 4, 9])
  }

  @Test func `puts a member back whose delete was saved`() throws {
    context.delete(try context.player(1))
    try context.save()
    context.undoManager?.undo()
    #expect(try context.team(1).members.map(\.key) == [0, 1, 2, 3, 4])
    try context.save()
    #expect(try storedMembers == [0, 1, 2, 3, 4])
  }

  @Test(arguments: [[0], [2], [4], [1, 3], [4, 0], [0, 1, 2, 3, 4]], [false, true])
  func `puts members back that were deleted before their owner`(
    deleted: [Int],
    isReadBeforeSave: Bool
  ) throws {
    for key in deleted { context.delete(try context.player(key)) }
    context.delete(try context.team(1))
    try context.save()
    context.undoManager?.undo()
    if isReadBeforeSave { #expect(try context.team(1).members.map(\.key) == [0, 1, 2, 3, 4]) }
    try context.save()
    #expect(try context.team(1).members.map(\.key) == [0, 1, 2, 3, 4])
    #expect(try storedMembers == [0, 1, 2, 3, 4])
  }

  @Test(arguments: [[0], [2], [1, 2], [2, 0]])
  func `puts members back that were deleted before the owner whose delete cascades to the others`(
    deleted: [Int]
  ) throws {
    try context.player(3).deals = (0..<3).map { Deal($0) }
    try context.save()
    context.undoManager?.removeAllActions()
    for key in deleted {
      let deals = FetchDescriptor<Deal>(predicate: #Predicate { $0.key == key })
      context.delete(try #require(try context.fetch(deals).first))
    }
    context.delete(try context.player(3))
    try context.save()
    context.undoManager?.undo()
    try context.save()
    #expect(try context.player(3).deals.map(\.key) == [0, 1, 2])
    #expect(try ModelContext(club.container).player(3).deals.map(\.key) == [0, 1, 2])
  }

  @Test func `puts a member back to its place in a list that is stored with its owner`() throws {
    let player = try context.player(1)
    player.medals = []
    try context.save()
    context.undoManager?.undo()
    #expect(try context.medal(1).players.map(\.key) == [0, 1, 2, 3, 4])
    try context.save()
    let stored = try ModelContext(club.container).medal(1).players.map(\.key)
    #expect(stored == [0, 1, 2, 3, 4])
    #expect(try club.container.storedListViolations() == [])
  }
}

@Suite struct `Redoing a change of a whole list after a save` {
  /// A way to set a list of which all other players are stored already, and belong to nobody or to another team.
  enum Way: CaseIterable {
    case assigning, plusEquals, appendingContents, insertingContents, replacingFirst, turningRound

    func change(_ players: inout [Player], with others: [Player]) {
      switch self {
      case .assigning: players = others
      case .plusEquals: players += others
      case .appendingContents: players.append(contentsOf: others)
      case .insertingContents: players.insert(contentsOf: others, at: 0)
      case .replacingFirst: players[0] = others[0]
      case .turningRound: players = (others + players).reversed()
      }
    }
  }

  @Test(arguments: Way.allCases, [false, true])
  func `brings stored members back at both ends, in their places`(
    way: Way,
    isFromAnotherTeam: Bool
  ) throws {
    let club = try Club()
    let context = try club.context { context in
      let (team, other, medal) = (Team(1), Team(2), Medal(1))
      context.insert(team)
      context.insert(other)
      context.insert(medal)
      team.members = [Player(1), Player(2)]
      medal.players = team.members
      for key in 3...4 {
        context.insert(Player(key))
      }
    }
    let others = try [context.player(3), context.player(4)]
    if isFromAnotherTeam {
      try context.team(2).members = others
      try context.save()
    }
    context.undoManager = UndoManager()
    let (team, medal) = (try context.team(1), try context.medal(1))
    let former = team.members.map(\.key)
    way.change(&team.members, with: others)
    way.change(&medal.players, with: others)
    let wanted = team.members.map(\.key)
    context.processPendingChanges()
    try context.save()
    for _ in 0..<2 {
      context.undoManager?.undo()
      try context.save()
      #expect(team.members.map(\.key) == former)
      #expect(medal.players.map(\.key) == former)
      context.undoManager?.redo()
      #expect(team.members.map(\.key) == wanted)
      #expect(medal.players.map(\.key) == wanted)
      #expect(team.members.allSatisfy { $0.team === team })
      #expect(medal.players.allSatisfy { $0.medals.contains(medal) })
      try context.save()
      let fresh = ModelContext(club.container)
      #expect(try fresh.team(1).members.map(\.key) == wanted)
      #expect(try fresh.medal(1).players.map(\.key) == wanted)
      #expect(team.members.map(\.key) == wanted)
      #expect(context.invariantViolations() == [])
    }
  }

  @Test(arguments: [false, true], [false, true])
  func `brings a new member back at both ends, in its place`(
    isReadBetween: Bool,
    isSavedFirst: Bool
  ) throws {
    let club = try Club()
    let context = try club.context { context in
      let (team, medal) = (Team(1), Medal(1))
      context.insert(team)
      context.insert(medal)
      team.members = [Player(1)]
      medal.players = team.members
    }
    context.undoManager = UndoManager()
    let (team, medal) = (try context.team(1), try context.medal(1))
    let new = Player(2)
    team.members = [new] + team.members
    medal.players = [new] + medal.players
    context.processPendingChanges()
    if isSavedFirst { try context.save() }
    for _ in 0..<2 {
      context.undoManager?.undo()
      try context.save()
      if isReadBetween { #expect(team.members.map(\.key) == [1]) }
      context.undoManager?.redo()
      if isReadBetween { #expect(team.members.map(\.key) == [2, 1]) }
      try context.save()
      #expect(team.members.map(\.key) == [2, 1])
      #expect(team.members.allSatisfy { $0.team === team })
      #expect(medal.players.map(\.key) == [2, 1])
      #expect(medal.players.allSatisfy { $0.medals.contains(medal) })
      let fresh = ModelContext(club.container)
      #expect(try fresh.team(1).members.map(\.key) == [2, 1])
      #expect(try fresh.medal(1).players.map(\.key) == [2, 1])
      #expect(try context.fetchCount(FetchDescriptor<Player>()) == 2)
    }
  }
}

@Suite struct `Rolling back an undo of a saved change` {
  @Test func `reads models again that nothing else holds`() throws {
    let club = try Club()
    let context = try club.context { context in
      for key in 0..<20 { context.insert(Player(key)) }
    }
    context.undoManager = UndoManager()
    for player in try context.fetch(FetchDescriptor<Player>()) { player.points += 1 }
    context.processPendingChanges()
    try context.save()
    context.undoManager?.undo()
    context.rollback()
    let points = try context.fetch(FetchDescriptor<Player>()).map(\.points)
    #expect(points == Array(repeating: 1, count: 20))
  }
}

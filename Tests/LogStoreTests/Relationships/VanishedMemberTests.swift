import Foundation
import SwiftData
import Testing

@testable import LogStore

// A program that holds a model learns only afterwards that another context has deleted it, and may relate it to others.

@Suite struct `A model that another context has deleted` {
  let club: Club
  let context: ModelContext
  let player: Player
  let others: [Player]
  let team: Team
  let medal: Medal
  let deal: Deal

  init() throws {
    club = try Club()
    let gone = Player(2)
    try club.context { context in
      context.insert(Team(1))
      context.insert(gone)
      for key in 3...4 { context.insert(Player(key)) }
      context.insert(Medal(5))
      context.insert(Deal(6))
    }
    context = ModelContext(club.container)
    context.automaticallyMergesChanges = true
    // Nothing of it is read before it is asked for.
    player = try #require(context.model(for: gone.persistentModelID) as? Player)
    others = try [context.player(3), context.player(4)]
    team = try context.team(1)
    medal = try context.medal(5)
    deal = try #require(try context.fetch(FetchDescriptor<Deal>()).first)
  }

  private func deleteElsewhere() throws {
    let other = ModelContext(club.container)
    other.delete(try other.player(2))
    try other.save()
  }

  /// The ways to relate a model to others.
  enum Way: CaseIterable {
    case append, insert, assign, otherEnd, appendShared, insertShared, assignShared, otherEndShared

    var isShared: Bool {
      [.appendShared, .insertShared, .assignShared, .otherEndShared].contains(self)
    }
  }

  private func relate(_ way: Way) {
    team.members.append(others[0])
    medal.players.append(others[0])
    switch way {
    case .append: team.members.append(player)
    case .insert: team.members.insert(player, at: 0)
    case .assign: team.members = [player, others[0]]
    case .otherEnd: player.team = team
    case .appendShared: medal.players.append(player)
    case .insertShared: medal.players.insert(player, at: 0)
    case .assignShared: medal.players = [player, others[0]]
    case .otherEndShared: player.medals.append(medal)
    }
    if way.isShared { medal.players.append(others[1]) } else { team.members.append(others[1]) }
  }

  private func members(_ way: Way) -> [Int] {
    way.isShared ? medal.players.map(\.key) : team.members.map(\.key)
  }

  @Test(arguments: Way.allCases, [false, true])
  func `is in no list that it is put into`(_ way: Way, isMerged: Bool) throws {
    try deleteElsewhere()
    if isMerged { context.processPendingChanges() } else { #expect(player.isDeleted) }
    relate(way)
    context.checkInvariants()
    #expect(members(way) == [3, 4])
    relate(way)
    context.checkInvariants()
    #expect(members(way) == [3, 4])
    try context.save()
    context.checkInvariants()
    #expect(members(way) == [3, 4])
    #expect(try club.container.storedListViolations() == [])
    let after = ModelContext(club.container)
    #expect(
      try (way.isShared ? after.medal(5).players : after.team(1).members).map(\.key) == [3, 4]
    )
  }

  @Test(arguments: Way.allCases)
  func `leaves the lists that it came to before`(_ way: Way) throws {
    relate(way)
    #expect(members(way).contains(2))
    try deleteElsewhere()
    context.processPendingChanges()
    #expect(player.isDeleted)
    context.checkInvariants()
    #expect(members(way).sorted() == [3, 4])
    try context.save()
    #expect(members(way).sorted() == [3, 4])
  }

  @Test(arguments: Way.allCases)
  func `leaves the lists that it came to although it has changes that would be lost`(
    _ way: Way
  ) throws {
    relate(way)
    player.points = 7
    try deleteElsewhere()
    context.processPendingChanges()
    #expect(player.isDeleted)
    context.checkInvariants()
    #expect(members(way).sorted() == [3, 4])
    #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
    context.rollback()
    context.checkInvariants()
    #expect(members(way).isEmpty)
  }

  @Test(arguments: [false, true])
  func `is not at the other end of a to-one`(hasChanges: Bool) throws {
    if hasChanges { player.points = 7 }
    try deleteElsewhere()
    context.processPendingChanges()
    team.captain = player
    deal.player = player
    #expect(team.captain == nil && deal.player == nil)
    context.checkInvariants()
    // A deal goes with its player, so none may be left behind.
    #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
    context.rollback()
    #expect(team.captain == nil && deal.player == nil)
    context.checkInvariants()
    team.captain = player
    try context.save()
    #expect(team.captain == nil)
    #expect(try ModelContext(club.container).team(1).captain == nil)
  }

  @Test(arguments: Way.allCases)
  func `is in the lists that it was put into once it is inserted again`(_ way: Way) throws {
    #expect(player.key == 2)
    try deleteElsewhere()
    context.processPendingChanges()
    relate(way)
    #expect(members(way) == [3, 4])
    context.insert(player)
    context.checkInvariants()
    #expect(members(way).sorted() == [2, 3, 4])
    try context.save()
    #expect(try club.container.storedListViolations() == [])
    let after = ModelContext(club.container)
    #expect(
      try (way.isShared ? after.medal(5).players : after.team(1).members).map(\.key).sorted()
        == [2, 3, 4]
    )
  }

  @Test(arguments: Way.allCases)
  func `is in no list after putting it there was undone and redone`(_ way: Way) throws {
    context.undoManager = UndoManager()
    try deleteElsewhere()
    context.processPendingChanges()
    relate(way)
    context.undoManager?.undo()
    context.checkInvariants()
    #expect(members(way) == [])
    context.undoManager?.redo()
    context.checkInvariants()
    #expect(members(way).sorted() == [3, 4])
  }
}

@Suite struct `A model with an unsaved delete` {
  @Test(arguments: [false, true])
  func `comes into a list only when it is inserted again`(isShared: Bool) throws {
    let club = try Club()
    let context = try club.context { context in
      context.insert(Team(1))
      for key in 2...3 { context.insert(Player(key)) }
      context.insert(Medal(5))
    }
    let (team, medal) = try (context.team(1), context.medal(5))
    let (player, other) = try (context.player(2), context.player(3))
    var members: [Int] { isShared ? medal.players.map(\.key) : team.members.map(\.key) }
    func append(_ player: Player) {
      if isShared { medal.players.append(player) } else { team.members.append(player) }
    }
    append(other)
    context.delete(player)
    append(player)
    context.checkInvariants()
    #expect(members == [3])
    context.insert(player)
    context.checkInvariants()
    #expect(members == [3, 2])
    try context.save()
    #expect(members == [3, 2])
    #expect(try club.container.storedListViolations() == [])
  }
}

import Foundation
import SwiftData
import Testing

@testable import LogStore

// Changes of relationships to models that another context has deleted, or moved, since they were read.

@Suite struct `A relationship to a model that was changed elsewhere` {
  let club: Club
  let first: ModelContext
  let second: ModelContext

  init() throws {
    club = try Club()
    first = ModelContext(club.container)
    second = try club.context { context in
      context.insert(Team(1))
      for key in 2...4 { context.insert(Trophy(key)) }
      for key in 5...7 { context.insert(Player(key)) }
    }
  }

  private func trophy(_ key: Int, _ context: ModelContext) throws -> Trophy {
    let found = try context.fetch(FetchDescriptor<Trophy>(predicate: #Predicate { $0.key == key }))
    return try #require(found.first)
  }

  @Test func `is not in the way of a denied delete if the model was deleted`() throws {
    let team = try first.team(1)
    team.trophies.insert(try trophy(2, first), at: 0)
    second.delete(try trophy(2, second))
    try second.save()
    first.delete(team)
    try first.save()
    let after = ModelContext(club.container)
    #expect(try after.fetchCount(FetchDescriptor<Team>()) == 0)
    #expect(try after.fetchCount(FetchDescriptor<Trophy>()) == 2)
  }

  @Test func `is in the way of a denied delete as long as the model is there`() throws {
    let team = try first.team(1)
    team.trophies = [try trophy(2, first), try trophy(3, first)]
    second.delete(try trophy(2, second))
    try second.save()
    first.delete(team)
    #expect(throws: SwiftDataError.modelValidationFailure) { try first.save() }
    #expect(try ModelContext(club.container).fetchCount(FetchDescriptor<Team>()) == 1)
  }

  @Test func `does not stop a save although it leads to a model that left unsaved`() throws {
    let team = Team(9)
    first.insert(team)
    team.trophies.append(try trophy(2, first))
    second.delete(try trophy(2, second))
    try second.save()
    first.delete(team)
    try first.save()
    let after = ModelContext(club.container)
    #expect(try after.fetch(FetchDescriptor<Trophy>()).map(\.key).sorted() == [3, 4])
    #expect(try after.fetch(FetchDescriptor<Team>()).map(\.key) == [1])
  }

  @Test func `is made again in a list with an order of its own, once`() throws {
    let theirs = try second.team(1)
    theirs.members = [try second.player(5)]
    try second.save()
    let team = try first.team(1)
    team.members = [try first.player(6), try first.player(5), try first.player(7)]
    theirs.members.removeAll()
    try second.save()
    // Reading the player reads that it left.
    try first.player(5).team = team
    #expect(team.members.map(\.key) == [6, 5, 7])
    try first.save()
    #expect(try ModelContext(club.container).team(1).members.map(\.key) == [6, 5, 7])
  }

  @Test func `comes back to its place when a delete is undone that was not saved`() throws {
    let medal = Medal(8)
    second.insert(medal)
    medal.players = try (5...7).map { try second.player($0) }
    try second.save()
    let context = ModelContext(club.container)
    context.undoManager = UndoManager()
    context.delete(try context.player(6))
    context.undoManager?.undo()
    #expect(try context.medal(8).players.map(\.key) == [5, 6, 7])
  }

  @Test(arguments: [false, true])
  func `comes back to its place when a saved delete is undone`(isListInMemory: Bool) throws {
    let medal = Medal(8)
    second.insert(medal)
    medal.players = try (5...7).map { try second.player($0) }
    try second.save()
    let context = ModelContext(club.container)
    context.undoManager = UndoManager()
    if isListInMemory { #expect(try context.medal(8).players.count == 3) }
    context.delete(try context.player(6))
    try context.save()
    context.undoManager?.undo()
    _ = try context.fetch(FetchDescriptor<Player>())
    #expect(try context.medal(8).players.map(\.key) == [5, 6, 7])
    try context.save()
    #expect(try ModelContext(club.container).medal(8).players.map(\.key) == [5, 6, 7])
  }

  @Test func `is at both ends again when a saved insertion is undone and redone`() throws {
    let context = ModelContext(club.container)
    context.undoManager = UndoManager()
    let medal = Medal(8)
    context.insert(medal)
    context.processPendingChanges()
    let player = Player(9)
    player.medals.append(medal)
    context.insert(player)
    try context.save()
    context.undoManager?.undo()
    try context.save()
    context.undoManager?.redo()
    try context.save()
    #expect(try club.container.storedListViolations() == [])
    let after = ModelContext(club.container)
    #expect(try after.medal(8).players.map(\.key) == [9])
    #expect(try after.player(9).medals.map(\.key) == [8])
  }

  @Test func `is at both ends again when two saved changes of it are undone`() throws {
    let context = ModelContext(club.container)
    let (first, second, medal) = (Player(20), Player(21), Medal(8))
    for model in [first, second] { context.insert(model) }
    context.insert(medal)
    first.medals = [medal]
    try context.save()
    context.undoManager = UndoManager()
    medal.players = [first, second]
    first.medals = []
    try context.save()
    context.undoManager?.undo()
    #expect(first.medals.map(\.key) == [8])
    #expect(medal.players.map(\.key) == [20])
    try context.save()
    #expect(first.medals.map(\.key) == [8])
    #expect(medal.players.map(\.key) == [20])
    #expect(try club.container.storedListViolations() == [])
    let after = ModelContext(club.container)
    #expect(try after.medal(8).players.map(\.key) == [20])
    #expect(try after.player(20).medals.map(\.key) == [8])
    #expect(try after.player(21).medals.isEmpty)
  }

  @Test(arguments: [false, true])
  func `comes back to its place when a saved insertion is undone and redone`(
    isListInMemory: Bool
  ) throws {
    let medal = Medal(8)
    second.insert(medal)
    medal.players = try (5...7).map { try second.player($0) }
    try second.save()
    let context = ModelContext(club.container)
    context.undoManager = UndoManager()
    let player = Player(9)
    context.insert(player)
    try context.medal(8).players.insert(player, at: 1)
    try context.save()
    if isListInMemory { #expect(try context.medal(8).players.map(\.key) == [5, 9, 6, 7]) }
    context.undoManager?.undo()
    try context.save()
    #expect(try ModelContext(club.container).medal(8).players.map(\.key) == [5, 6, 7])
    context.undoManager?.redo()
    try context.save()
    #expect(try club.container.storedListViolations() == [])
    #expect(try ModelContext(club.container).medal(8).players.map(\.key) == [5, 9, 6, 7])
    #expect(try ModelContext(club.container).player(9).medals.map(\.key) == [8])
  }
}

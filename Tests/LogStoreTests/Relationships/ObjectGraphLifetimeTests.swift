import Foundation
import LogStore
import SwiftData
import Testing

@Suite struct `Models that refer to each other` {
  /// What makes a ring of models in memory.
  enum Ring: CaseIterable {
    case manyToMany, changedOwner, rollback, unsaved, toOneOfChanged, goneElsewhere
  }

  private func makeRing(_ ring: Ring, in context: ModelContext) throws -> [any PersistentModel] {
    let player = try context.player(1)
    switch ring {
    case .manyToMany: _ = player.medals[0].players.count
    case .changedOwner:
      let team = try context.team(2)
      _ = team.members[0].team?.key
      team.name = "changed"
      return [team]
    case .rollback:
      let (team, deal) = (Team(8), Deal(9))
      context.insert(team)
      context.insert(deal)
      player.team = team
      deal.player = player
      context.rollback()
    case .unsaved:
      let medal = Medal(7)
      context.insert(medal)
      player.medals.append(medal)
      _ = medal.players.count
    case .toOneOfChanged:
      let other = Player(7)
      other.captainOf = try context.team(2)
      context.insert(other)
    case .goneElsewhere:
      let medal = try context.medal(3)
      player.medals = [medal]
      let other = ModelContext(context.container)
      other.delete(try other.player(1))
      other.delete(try other.medal(3))
      try other.save()
      try context.save()
    }
    return [player]
  }

  @Test(arguments: Ring.allCases)
  func `keep neither their context nor the store, once they are let go of`(ring: Ring) throws {
    weak var context: ModelContext?
    weak var container: ModelContainer?
    weak var model: (any PersistentModel)?
    try Club.reopening { opened in
      container = opened
      do {
        let context = ModelContext(opened)
        let (player, team, medal) = (Player(1), Team(2), Medal(3))
        for model in [player, team, medal] as [any PersistentModel] { context.insert(model) }
        player.team = team
        player.medals.append(medal)
        try context.save()
      }
      func load() throws -> [any PersistentModel] {
        let own = ModelContext(opened)
        context = own
        return try makeRing(ring, in: own)
      }
      var kept = try load()
      model = kept[0]
      kept = []
    } then: { _ in
      // The store could be opened again: nobody holds its lock.
    }
    #expect(context == nil)
    #expect(container == nil)
    #expect(model == nil)
  }

  @Test func `can be followed by who holds one of them and not the context`() throws {
    let club = try Club()
    try club.context { context in
      let medal = Medal(0)
      context.insert(medal)
      medal.players = [Player(1), Player(2)]
    }
    func load() throws -> Player {
      try ModelContext(club.container).medal(0).players[1]
    }
    let player = try load()
    #expect(player.modelContext != nil)
    #expect(player.key == 2)
    #expect(player.medals[0].players.map(\.key) == [1, 2])
    #expect(player.medals[0].players[1] === player)
    let context = try #require(player.modelContext)
    player.points = 4
    try context.save()
    #expect(try ModelContext(club.container).player(2).points == 4)
  }

  @Test func `are let go of when others are merged`() throws {
    let club = try Club()
    try club.context { context in
      for key in 0..<50 {
        let player = Player(key)
        context.insert(player)
        for medal in 0..<4 { player.medals.append(Medal(key * 4 + medal)) }
      }
    }
    let context = ModelContext(club.container)
    context.automaticallyMergesChanges = true
    let players = try context.fetch(FetchDescriptor<Player>())
    for player in players { for medal in player.medals { #expect(medal.players.count == 1) } }
    let other = ModelContext(club.container)
    try other.player(3).points = 7
    try other.save()
    context.processPendingChanges()
    #expect(players.allSatisfy { $0.medals.count == 4 })
    #expect(try context.player(3).points == 7)
  }

  @Test func `outlive a context in which they were inserted and deleted`() throws {
    let club = try Club()
    let deal = Deal(2)
    do {
      let context = ModelContext(club.container)
      context.insert(deal)
      context.delete(deal)
      context.insert(Deal(3))
      try context.save()
    }
    #expect(deal.modelContext == nil)
    #expect(deal.isDeleted)
    #expect(try ModelContext(club.container).fetchCount(FetchDescriptor<Deal>()) == 1)
  }

  @Test(arguments: [false, true])
  func `are let go of at a save when they were inserted and deleted before it`(
    isAnythingElseSaved: Bool
  ) throws {
    let context = ModelContext(try Club().container)
    weak var deal: Deal?
    do {
      let inserted = Deal(2)
      deal = inserted
      context.insert(inserted)
      context.delete(inserted)
      if isAnythingElseSaved { context.insert(Deal(3)) }
    }
    try context.save()
    #expect(deal == nil)
    #expect(context.insertedModelsArray.isEmpty)
  }

  @Test func `come back as new ones when a delete before a save of nothing is undone`() throws {
    let context = ModelContext(try Club().container)
    let manager = UndoManager()
    context.undoManager = manager
    let deal = Deal(2)
    context.insert(deal)
    context.processPendingChanges()
    context.delete(deal)
    try context.save()
    #expect(deal.modelContext == nil)
    manager.undo()
    #expect(!deal.isDeleted && deal.modelContext === context)
    try context.save()
    #expect(try ModelContext(context.container).fetchCount(FetchDescriptor<Deal>()) == 1)
    #expect(context.invariantViolations() == [])
  }
}

@Suite struct `What a context refuses` {
  let club: Club

  init() throws { club = try Club() }

  @Test func `is a relationship to a model of another context, which stays as it was`() throws {
    let first = try club.context { $0.insert(Team(1)) }
    let team = try first.team(1)
    let second = ModelContext(club.container)
    let player = Player(2)
    second.insert(player)
    player.team = team
    #expect(player.team == nil)
    #expect(team.members.isEmpty)
    #expect(!first.hasChanges)
    let error = #expect(throws: SwiftDataError.self) { try second.save() }
    let message = error.map { "\($0)" } ?? ""
    #expect(message.contains("Team") && message.contains("Player"))
    team.members.append(player)
    #expect(team.members.isEmpty)
    #expect(throws: SwiftDataError.self) { _ = try first.fetch(FetchDescriptor<Team>()) }
    try second.save()
    #expect(try first.player(2).team == nil)
  }

  @Test func `is a model of a class that no store keeps, at every save`() throws {
    let context = ModelContext(club.container)
    context.insert(Stranger(1))
    for _ in 0..<2 {
      let error = #expect(throws: SwiftDataError.self) { try context.save() }
      #expect(error.map { "\($0)" }?.contains("Stranger") == true)
    }
    context.rollback()
    try context.save()
  }

  @Test func `is any model, where the schema has none`() throws {
    let container = try ModelContainer(
      for: Schema([]),
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let context = ModelContext(container)
    context.insert(Stranger(1))
    #expect(throws: SwiftDataError.self) { try context.save() }
  }
}

@Suite struct `A model that was deleted elsewhere` {
  let club: Club

  init() throws { club = try Club() }

  private func deleteElsewhere(_ key: Int) throws {
    let other = ModelContext(club.container)
    other.delete(try other.player(key))
    try other.save()
  }

  @Test(arguments: [false, true])
  func `does not lose an unsaved edit in silence`(isMerging: Bool) throws {
    let context = try club.context { $0.insert(Player(1)) }
    context.automaticallyMergesChanges = isMerging
    let player = try context.player(1)
    player.points = 50
    try deleteElsewhere(1)
    #expect(throws: SwiftDataError.self) { try context.save() }
    #expect(player.points == 50)
    context.rollback()
    #expect(player.isDeleted)
    try context.save()
  }

  @Test func `says that it is deleted before anything of it is read`() throws {
    let context = try club.context { $0.insert(Player(1)) }
    let identifier = try context.player(1).persistentModelID
    let other = ModelContext(club.container)
    #expect(!other.model(for: identifier).isDeleted)
    try deleteElsewhere(1)
    #expect(ModelContext(club.container).model(for: identifier).isDeleted)
  }
}

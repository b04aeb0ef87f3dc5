import LogStore
import SwiftData
import Testing

@Suite struct `Deleting a model that others refer to` {
  let club: Club

  init() throws { club = try Club() }

  @Test(arguments: [false, true])
  func `nullifies what refers to it since, whether or not its list was read`(isRead: Bool) throws {
    try club.context {
      $0.insert(Team(1))
      $0.insert(Player(2))
    }
    let context = ModelContext(club.container)
    let (team, player) = (try context.team(1), try context.player(2))
    if isRead { #expect(team.members.isEmpty) }
    player.team = team
    context.delete(team)
    #expect(player.team == nil)
    try context.save()
    #expect(player.team == nil)
    let found = try ModelContext(club.container).fetch(
      FetchDescriptor<Player>(predicate: #Predicate { $0.team == nil })
    )
    #expect(found.map(\.key) == [2])
  }

  @Test(arguments: [false, true])
  func `and inserting it again shows it in the lists that it was in`(isRead: Bool) throws {
    try club.context {
      let (team, player, medal) = (Team(1), Player(2), Medal(3))
      $0.insert(team)
      team.members = [player, Player(4)]
      $0.insert(medal)
      medal.players = [player]
    }
    let context = ModelContext(club.container)
    let (team, player) = (try context.team(1), try context.player(2))
    let medal = try #require(try context.fetch(FetchDescriptor<Medal>()).first)
    if isRead { #expect(team.members.count == 2 && medal.players.count == 1) }
    context.delete(player)
    #expect(team.members.map(\.key) == [4])
    #expect(medal.players.isEmpty)
    context.insert(player)
    #expect(player.team === team && player.medals.map(\.key) == [3])
    #expect(Set(team.members.map(\.key)) == [2, 4])
    #expect(medal.players.map(\.key) == [2])
    try context.save()
    #expect(Set(team.members.map(\.key)) == [2, 4])
    let other = ModelContext(club.container)
    #expect(Set(try other.team(1).members.map(\.key)) == [2, 4])
    #expect(try other.player(2).medals.map(\.key) == [3])
  }

  @Test(arguments: [false, true], [false, true])
  func `and inserting it again shows it in lists that no store has`(
    isOwnerSaved: Bool,
    isMemberSaved: Bool
  ) throws {
    let context = ModelContext(club.container)
    let (team, player, medal) = (Team(1), Player(2), Medal(3))
    if isOwnerSaved {
      context.insert(team)
      context.insert(medal)
    }
    if isMemberSaved { context.insert(player) }
    try context.save()
    for model in [team, player, medal] as [any PersistentModel] { context.insert(model) }
    player.team = team
    player.medals = [medal]
    context.delete(player)
    #expect(team.members.isEmpty && medal.players.isEmpty)
    context.insert(player)
    #expect(player.team === team && player.medals.map(\.key) == [3])
    #expect(team.members.map(\.key) == [2] && medal.players.map(\.key) == [2])
    try context.save()
    let other = ModelContext(club.container)
    #expect(try other.team(1).members.map(\.key) == [2])
    #expect(try other.player(2).medals.map(\.key) == [3])
    #expect(try other.fetch(FetchDescriptor<Medal>()).first?.players.map(\.key) == [2])
  }

  @Test func `inserting it again and undoing that shows it no more`() throws {
    try club.context {
      let (team, player) = (Team(1), Player(2))
      $0.insert(team)
      team.members = [player, Player(4)]
    }
    let context = ModelContext(club.container)
    let undo = UndoManager()
    undo.groupsByEvent = false
    context.undoManager = undo
    let (team, player) = (try context.team(1), try context.player(2))
    #expect(team.members.count == 2)
    func group(_ body: () -> Void) {
      undo.beginUndoGrouping()
      body()
      undo.endUndoGrouping()
    }
    group { context.delete(player) }
    group { context.insert(player) }
    #expect(Set(team.members.map(\.key)) == [2, 4])
    undo.undo()
    #expect(team.members.map(\.key) == [4])
    undo.redo()
    #expect(Set(team.members.map(\.key)) == [2, 4])
    undo.undo()
    undo.undo()
    #expect(Set(team.members.map(\.key)) == [2, 4])
    try context.save()
    #expect(Set(try ModelContext(club.container).team(1).members.map(\.key)) == [2, 4])
  }

  @Test(arguments: [false, true])
  func `is denied though it was never saved`(isTrophySaved: Bool) throws {
    let context = ModelContext(club.container)
    let (team, trophy) = (Team(1), Trophy(2))
    context.insert(trophy)
    if isTrophySaved { try context.save() }
    context.insert(team)
    trophy.team = team
    context.delete(team)
    let error = try #require(throws: SwiftDataError.self) { try context.save() }
    #expect("\(error)".contains("trophies"), "\(error)")
    trophy.team = nil
    try context.save()
    #expect(try ModelContext(club.container).fetch(FetchDescriptor<Trophy>()).count == 1)
    #expect(try ModelContext(club.container).fetchCount(FetchDescriptor<Team>()) == 0)
  }

  @Test(arguments: [false, true])
  func `takes along what belongs to it since, whether or not its list was read`(
    isRead: Bool
  ) throws {
    try club.context { $0.insert(Player(1)) }
    let context = ModelContext(club.container)
    let player = try context.player(1)
    if isRead { #expect(player.deals.isEmpty) }
    let deal = Deal(2)
    context.insert(deal)
    deal.player = player
    context.delete(player)
    #expect(deal.isDeleted)
    try context.save()
    #expect(deal.modelContext == nil)
    #expect(try ModelContext(club.container).fetchCount(FetchDescriptor<Deal>()) == 0)
  }

  @Test func `is denied by what refers to it since`() throws {
    try club.context { $0.insert(Team(1)) }
    let context = ModelContext(club.container)
    let team = try context.team(1)
    let trophy = Trophy(2)
    context.insert(trophy)
    trophy.team = team
    context.delete(team)
    #expect(throws: SwiftDataError.self) { try context.save() }
    #expect(try ModelContext(club.container).fetchCount(FetchDescriptor<Team>()) == 1)
  }

  @Test func `takes along what another context added since the list was read`() throws {
    let context = try club.context { $0.insert(Player(1)) }
    let player = try context.player(1)
    #expect(player.deals.isEmpty)
    try club.context { other in
      let deal = Deal(2)
      other.insert(deal)
      deal.player = try? other.player(1)
    }
    #expect(try context.fetch(FetchDescriptor<Deal>()).count == 1)
    #expect(player.deals.map(\.key) == [2])
    context.delete(player)
    try context.save()
    #expect(try ModelContext(club.container).fetchCount(FetchDescriptor<Deal>()) == 0)
  }

  @Test func `takes along what another context added between the delete and the save`() throws {
    let context = try club.context { $0.insert(Player(1)) }
    let player = try context.player(1)
    context.delete(player)
    try club.context { other in
      let deal = Deal(2)
      other.insert(deal)
      deal.player = try? other.player(1)
    }
    try context.save()
    #expect(!context.hasChanges)
    #expect(try ModelContext(club.container).fetchCount(FetchDescriptor<Deal>()) == 0)
  }

  @Test func `nullifies what another context related to it between the delete and the save`() throws
  {
    let context = try club.context {
      $0.insert(Team(1))
      $0.insert(Player(2))
    }
    context.delete(try context.team(1))
    try club.context { other in
      (try? other.player(2))?.team = try? other.team(1)
    }
    try context.save()
    #expect(try ModelContext(club.container).player(2).team == nil)
  }

  @Test func `is denied by what another context related to it between the delete and the save`()
    throws
  {
    let context = try club.context { $0.insert(Team(1)) }
    context.delete(try context.team(1))
    try club.context { other in
      let trophy = Trophy(2)
      other.insert(trophy)
      trophy.team = try? other.team(1)
    }
    #expect(throws: SwiftDataError.self) { try context.save() }
    context.rollback()
    #expect(try context.team(1).trophies.map(\.key) == [2])
  }

  @Test func `leaves no trace in lists of many that were added to between the delete and the save`()
    throws
  {
    let context = try club.context {
      $0.insert(Player(1))
      $0.insert(Medal(2))
    }
    context.delete(try context.player(1))
    try club.context { other in
      if let player = try? other.player(1) { (try? other.medal(2))?.players.append(player) }
    }
    try context.save()
    #expect(try ModelContext(club.container).medal(2).players.isEmpty)
  }

  @Test func `elsewhere makes a new reference to it nil, as its rule says`() throws {
    let context = try club.context {
      $0.insert(Team(1))
      $0.insert(Player(2))
    }
    let player = try context.player(2)
    player.team = try context.team(1)
    player.points = 3
    try club.context { other in if let team = try? other.team(1) { other.delete(team) } }
    try context.save()
    let found = try ModelContext(club.container).player(2)
    #expect(found.team == nil)
    #expect(found.points == 3)
  }

  @Test func `elsewhere refuses a new part of it, naming both`() throws {
    let context = try club.context { $0.insert(Player(1)) }
    let player = try context.player(1)
    let deal = Deal(2)
    context.insert(deal)
    deal.player = player
    try club.context { other in if let player = try? other.player(1) { other.delete(player) } }
    let error = #expect(throws: SwiftDataError.self) { try context.save() }
    let message = error.map { "\($0)" } ?? ""
    #expect(message.contains("player"))
    #expect(message.contains("Deal"))
    #expect(context.hasChanges)
  }
}

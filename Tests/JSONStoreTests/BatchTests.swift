import Foundation
import JSONStore
import SwiftData
import Testing

@Model private final class Team {
  var name: String
  @Relationship(inverse: \Player.team) var players: [Player] = []
  init(_ name: String) { self.name = name }
}

@Model private final class Player {
  var number: Int
  var team: Team?
  init(_ number: Int) { self.number = number }
}

@Suite struct `A batch update in a store of snapshots` {
  @Test func `sets a to-one relationship to a model of the context`() throws {
    let folder = try TemporaryFolder()
    let container = try ModelContainer(
      for: Schema([Team.self, Player.self]),
      configurations: [
        JSONStoreConfiguration(name: "teams", url: folder.url.appending(path: "teams.json"))
      ]
    )
    let context = ModelContext(container)
    let team = Team("reds")
    context.insert(team)
    for number in 1...4 { context.insert(Player(number)) }
    try context.save()
    try context.batchUpdate(
      Player.self,
      where: #Predicate { $0.number > 1 },
      .set(\.team, to: team)
    )
    try context.batchUpdate(
      Player.self,
      where: #Predicate { $0.number == 4 },
      .set(\.team, to: nil)
    )
    let stored = try #require(try ModelContext(container).fetch(FetchDescriptor<Team>()).first)
    #expect(stored.players.map(\.number) == [2, 3])
    #expect(team.players.map(\.number) == [2, 3])
    #expect(!context.hasChanges)
  }
}

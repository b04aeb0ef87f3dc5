import Foundation
import ModelRuntime
import Testing

@Model private final class Player {
  var scores: [Int] = []
  var name = ""
  var photo = Data()
  var home: Address?
  var tags: Set<String> = []

  init(scores: [Int]) { self.scores = scores }
}

@Suite struct `An attribute that is read while it is changed in place` {
  /// A player of a store, or a new one.
  private func player(isStored: Bool, _ scores: [Int]) throws -> (Player, ModelContext) {
    let container = try ModelContainer(
      for: Schema([Player.self]),
      configurations: [MemoryStore.Configuration()]
    )
    let context = ModelContext(container)
    let player = Player(scores: [])
    player.scores = isStored ? scores : []
    context.insert(player)
    if isStored {
      try context.save()
    } else {
      player.scores = scores
    }
    return (player, context)
  }

  @Test(arguments: [false, true])
  func `is what it was before`(isStored: Bool) throws {
    let (player, context) = try player(isStored: isStored, [1, 12, 20, 5])
    var seen: [[Int]] = []
    player.scores.removeAll { score in
      seen.append(player.scores)
      return score < (player.scores.max() ?? .max) - 10
    }
    #expect(player.scores == [12, 20])
    #expect(seen == Array(repeating: [1, 12, 20, 5], count: 4))
    try context.save()
    #expect(player.scores == [12, 20])
  }

  @Test(arguments: [false, true])
  func `is what was set before, unsaved`(isStored: Bool) throws {
    let (player, _) = try player(isStored: isStored, [1])
    player.scores = [3, 2, 1]
    var seen: Set<[Int]> = []
    player.scores.sort {
      seen.insert(player.scores)
      return $0 < $1
    }
    #expect(player.scores == [1, 2, 3])
    #expect(seen == [[3, 2, 1]])
  }

  @Test func `is so whatever its type`() throws {
    let (player, _) = try player(isStored: true, [])
    func change<Value: Equatable>(_ value: inout Value, _ new: Value, _ read: () -> Value) -> Bool {
      let former = value
      value = new
      return read() == former
    }
    player.name = "before"
    #expect(change(&player.name, "after") { player.name })
    player.photo = Data([1])
    #expect(change(&player.photo, Data([2])) { player.photo })
    player.home = Address(street: "Road", city: "Oslo")
    #expect(change(&player.home, nil) { player.home })
    player.tags = ["a"]
    #expect(change(&player.tags, []) { player.tags })
    #expect(player.name == "after" && player.photo == Data([2]))
    #expect(player.home == nil && player.tags.isEmpty)
  }
}

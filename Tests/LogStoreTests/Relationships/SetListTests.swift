import SwiftData
import Testing

@testable import LogStore

@Suite struct `A list that is set` {
  @Test(arguments: 0..<24 as Range<UInt64>)
  func `holds what it was set to, each model once, here and when it is read elsewhere`(
    seed: UInt64
  ) throws {
    let club = try Club()
    var random = SeededRandom(seed: seed)
    let context = try club.context { context in
      context.insert(Team(0))
      for key in 1...40 { context.insert(Player(key)) }
    }
    let team = try context.team(0)
    let players = try (1...40).map { try context.player($0) }
    for step in 0..<12 {
      let place = Comment(rawValue: "seed \(seed), step \(step)")
      let wanted = next(after: team.members, of: players, &random)
      team.members = wanted
      var seen: Set<Int> = []
      let expected = wanted.filter { seen.insert($0.key).inserted }
      #expect(team.members.map(\.key) == expected.map(\.key), place)
      #expect(
        players.allSatisfy { ($0.team === team) == seen.contains($0.key) },
        place
      )
      if random.next(below: 2) == 0 { continue }
      try context.save()
      let fresh = ModelContext(club.container)
      #expect(try fresh.team(0).members.map(\.key) == expected.map(\.key), place)
      #expect(context.invariantViolations() == [], place)
    }
    try context.save()
    #expect(try club.container.storeInvariantViolations() == [])
  }

  /// A list to set: none, a part of the last one, that with more, or any players, some of them twice.
  private func next(
    after last: [Player],
    of players: [Player],
    _ random: inout SeededRandom
  ) -> [Player] {
    let some = (0..<random.next(below: 12)).map { _ in players[random.next(below: 40)] }
    switch random.next(below: 5) {
    case 0: return []
    case 1: return Array(last.prefix(random.next(below: last.count + 1)))
    case 2: return last + some
    case 3: return last.filter { !$0.key.isMultiple(of: 3) } + some.prefix(2)
    default: return some
    }
  }
}

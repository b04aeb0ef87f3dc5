import Foundation
import LogEngineTestSupport
import SwiftData
import Testing

@testable import LogStore

// Lists of many to many are written as their rows have them, corrected by what came and left, and stay in memory after a
// save of their own.

@Suite struct `A list of many to many that is saved again and again` {
  let club: Club

  init() throws {
    club = try Club()
    try club.context { context in
      for key in 0..<3 { context.insert(Medal(key)) }
      for key in 10..<18 { context.insert(Player(key)) }
    }
  }

  private func medals(_ context: ModelContext) throws -> [Medal] {
    try context.fetch(FetchDescriptor<Medal>(sortBy: [SortDescriptor(\.key)]))
  }

  private func players(_ context: ModelContext) throws -> [Player] {
    try context.fetch(FetchDescriptor<Player>(sortBy: [SortDescriptor(\.key)]))
  }

  /// What a context shows of all lists.
  private func lists(_ context: ModelContext) throws -> [[Int]] {
    try medals(context).map { $0.players.map(\.key) }
      + players(context).map { $0.medals.map(\.key).sorted() }
  }

  @Test func `keeps its members while no other context saves`() throws {
    let context = ModelContext(club.container)
    let medal = try context.medal(0)
    weak var member: Player?
    do {
      let player = try context.player(10)
      medal.players.append(player)
      try context.save()
      member = player
    }
    #expect(member != nil)
    #expect(medal.players.map(\.key) == [10])
    let other = ModelContext(club.container)
    try other.medal(0).players.append(try other.player(11))
    try other.save()
    _ = try context.fetch(FetchDescriptor<Medal>())
    #expect(medal.players.map(\.key) == [10, 11])
  }

  @Test func `takes its members along when its context goes`() throws {
    weak var context: ModelContext?
    weak var member: Player?
    do {
      let own = ModelContext(club.container)
      let player = try own.player(10)
      try own.medal(0).players.append(player)
      try own.save()
      (context, member) = (own, player)
    }
    #expect(context == nil && member == nil)
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func `is what the store has after each save of two contexts`(seed: UInt64) throws {
    var chance = SeededGenerator(seed: seed)
    let contexts = [ModelContext(club.container), ModelContext(club.container)]
    var nextKey = 100
    for step in 0..<40 {
      let context = contexts[Int.random(in: 0...1, using: &chance)]
      for _ in 0..<Int.random(in: 1...3, using: &chance) {
        guard let medal = try medals(context).randomElement(using: &chance),
          let player = try players(context).randomElement(using: &chance)
        else { continue }
        let place = medal.players.indices.randomElement(using: &chance)
        switch Int.random(in: 0..<9, using: &chance) {
        case 0, 1: medal.players.append(player)
        case 2: if let place { medal.players.remove(at: place) }
        case 3:
          if let place, !medal.players.contains(where: { $0 === player }) {
            medal.players.insert(player, at: place)
          }
        case 4: player.medals.append(medal)
        case 5: player.medals.removeAll { $0 === medal }
        case 6:
          let new = Player(nextKey)
          nextKey += 1
          medal.players.append(new)
        case 7: medal.players.shuffle(using: &chance)
        default: if try players(context).count > 5 { context.delete(player) }
        }
      }
      do { try context.save() } catch { context.rollback() }
      #expect(context.invariantViolations() == [])
      #expect(try club.container.storedListViolations() == [])
      #expect(try lists(context) == lists(ModelContext(club.container)), "step \(step)")
    }
  }
}

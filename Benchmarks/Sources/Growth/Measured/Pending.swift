import Foundation
import SwiftData

extension Growth {
  /// Questions while as many models are unsaved.
  static var pending: [Growth] {
    [
      Growth("find or create by a unique name, and save") { sample, count in
        {
          for number in 0..<count {
            let name = "player \(number)"
            var wanted = FetchDescriptor<Player>(predicate: #Predicate { $0.name == name })
            wanted.fetchLimit = 1
            if try sample.context.fetch(wanted).isEmpty { sample.context.insert(Player(number)) }
          }
          try sample.context.save()
        }
      },
      Growth("find or create by an indexed number, and save") { sample, count in
        {
          for number in 0..<count {
            var wanted = FetchDescriptor<Player>(predicate: #Predicate { $0.number == number })
            wanted.fetchLimit = 1
            if try sample.context.fetch(wanted).isEmpty { sample.context.insert(Player(number)) }
          }
          try sample.context.save()
        }
      },
      Growth("fetch by an indexed number, all changed") { sample, count in
        for player in try sample.players(count) { player.points += 1 }
        return {
          for number in 0..<count {
            let wanted = FetchDescriptor<Player>(predicate: #Predicate { $0.number == number })
            try expect(sample.context.fetch(wanted).count, is: 1, "the players of a number")
          }
        }
      },
      Growth("fetch the children of unsaved parents") { sample, count in
        let teams = (0..<count).map { Team("team \($0)") }
        for (number, team) in teams.enumerated() {
          sample.context.insert(team)
          team.players = [Player(number)]
        }
        return { for team in teams { try expect(team.players.count, is: 1, "the members") } }
      },
      Growth("fetchCount, a hundred times, all unsaved") { sample, count in
        _ = try sample.players(count, saved: false)
        return {
          for _ in 0..<100 {
            try expect(
              sample.context.fetchCount(FetchDescriptor<Player>()),
              is: count,
              "the players"
            )
          }
        }
      },
      Growth("fetchCount, a hundred times, one of as many unsaved") { sample, count in
        _ = try sample.players(count)
        sample.context.insert(Player(count))
        return {
          for _ in 0..<100 {
            try expect(
              sample.context.fetchCount(FetchDescriptor<Player>()),
              is: count + 1,
              "the players"
            )
          }
        }
      },
      Growth("first ten by an indexed number, a hundred times, all unsaved") { sample, count in
        _ = try sample.players(count, saved: false)
        return { try readFirstTen(sample.context) }
      },
      Growth("first ten by an indexed number, a hundred times, one unsaved") { sample, count in
        _ = try sample.players(count)
        sample.context.insert(Player(count))
        return { try readFirstTen(sample.context) }
      },
      Growth("insertedModelsArray beside each insertion") { sample, count in
        {
          for number in 0..<count {
            sample.context.insert(Player(number))
            guard sample.context.hasChanges else {
              throw UnexpectedResult(description: "an insertion is no change")
            }
          }
          try expect(sample.context.insertedModelsArray.count, is: count, "the inserted models")
        }
      },
      Growth("fetch the first by an indexed number and delete it, until none is left") {
        sample,
        count in
        _ = try sample.players(count)
        return {
          try takeAll(sample.context, count) { sample.context.delete($0) }
          try sample.context.save()
        }
      },
      Growth("fetch the first of some points and change these, until none is left") {
        sample,
        count in
        _ = try sample.players(count)
        return {
          try takeAll(sample.context, where: #Predicate { $0.points == 0 }, count) { $0.points = 1 }
          try sample.context.save()
        }
      },
      Growth("fetch the first new one by an indexed number and delete it, until none is left") {
        sample,
        count in
        _ = try sample.players(count, saved: false)
        return { try takeAll(sample.context, count) { sample.context.delete($0) } }
      },
      Growth("fetch the first new one of some points and change these, until none is left") {
        sample,
        count in
        _ = try sample.players(count, saved: false)
        return {
          try takeAll(sample.context, where: #Predicate { $0.points == 0 }, count) { $0.points = 1 }
        }
      },
      Growth("fetch the first of other points and change these, until none is left") {
        sample,
        count in
        _ = try sample.players(count)
        return {
          try takeAll(sample.context, where: #Predicate { $0.points != 1 }, count) { $0.points = 1 }
        }
      },
      Growth("fetch the first by an indexed number and put it behind all others") { sample, count in
        _ = try sample.players(count)
        return {
          for step in 0..<count {
            guard let player = try first(sample.context) else { break }
            try expect(player.number, is: step, "the first number")
            player.number = count + step
          }
        }
      },
      Growth("insert one and fetch the last ten, each time") { sample, count in
        {
          var wanted = FetchDescriptor<Player>(sortBy: [SortDescriptor(\.number, order: .reverse)])
          wanted.fetchLimit = 10
          for number in 0..<count {
            sample.context.insert(Player(number))
            let newest = try sample.context.fetch(wanted).first
            try expect(newest?.number ?? -1, is: number, "the last number")
          }
        }
      },
      Growth("insert one and fetchCount, each time") { sample, count in
        {
          let wanted = FetchDescriptor<Player>(predicate: #Predicate { $0.points == 0 })
          for number in 0..<count {
            sample.context.insert(Player(number))
            try expect(sample.context.fetchCount(wanted), is: number + 1, "the players")
          }
        }
      },
      Growth("fetchCount beside each deletion") { sample, count in
        let players = try sample.players(count)
        return {
          for (place, player) in players.enumerated() {
            sample.context.delete(player)
            try expect(
              sample.context.fetchCount(FetchDescriptor<Player>()),
              is: count - place - 1,
              "the players"
            )
          }
        }
      },
    ]
  }

  /// The first player by number.
  private static func first(
    _ context: ModelContext,
    where predicate: Predicate<Player>? = nil
  ) throws -> Player? {
    var wanted = FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.number)])
    wanted.fetchLimit = 1
    return try context.fetch(wanted).first
  }

  /// Fetches the first player by number and does something after which it is no longer found, until none is left.
  private static func takeAll(
    _ context: ModelContext,
    where predicate: Predicate<Player>? = nil,
    _ count: Int,
    _ take: (Player) -> Void
  ) throws {
    var taken = 0
    while let player = try first(context, where: predicate) {
      take(player)
      taken += 1
    }
    try expect(taken, is: count, "the players that were taken")
  }

  private static func readFirstTen(_ context: ModelContext) throws {
    for _ in 0..<100 {
      var wanted = FetchDescriptor<Player>(sortBy: [SortDescriptor(\.number)])
      wanted.fetchLimit = 10
      let numbers = try context.fetch(wanted).map(\.number)
      try expect(numbers.reduce(0, +), is: 45, "the sum of the first ten numbers")
    }
  }
}

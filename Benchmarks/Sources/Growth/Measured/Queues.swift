import Foundation
import SwiftData

extension Growth {
  /// What comes and goes: of most keys that were given, no row is left.
  static var queues: [Growth] {
    [
      Growth("take the first of a queue and delete it, a save each") { sample, count in
        _ = try sample.players(count)
        let context = sample.makeContext()
        var first = FetchDescriptor<Player>()
        first.fetchLimit = 1
        return {
          var taken = 0
          while let player = try context.fetch(first).first {
            context.delete(player)
            try context.save()
            taken += 1
          }
          try expect(taken, is: count, "the players")
        }
      },
      Growth("take the first by an index and delete it, a save each") { sample, count in
        _ = try sample.players(count)
        let context = sample.makeContext()
        var first = FetchDescriptor<Player>(sortBy: [SortDescriptor(\.number)])
        first.fetchLimit = 1
        return {
          var taken = 0
          while let player = try context.fetch(first).first {
            context.delete(player)
            try context.save()
            taken += 1
          }
          try expect(taken, is: count, "the players")
        }
      },
      Growth("look each of ten rows up, behind as many that are gone") { sample, count in
        for player in try sample.players(count) { sample.context.delete(player) }
        try sample.context.save()
        _ = try sample.players(10)
        return {
          for number in 0..<count {
            let name = "player \(number % 10)"
            let found = try sample.makeContext().fetchCount(
              FetchDescriptor<Player>(predicate: #Predicate { $0.name == name })
            )
            try expect(found, is: 1, "the players")
          }
        }
      },
      Growth("fetch the first by an index and save, beside a context of the past") {
        sample,
        count in
        let players = try sample.players(count)
        let then = try ModelContext(sample.container, asOf: .now)
        var first = FetchDescriptor<Player>(sortBy: [SortDescriptor(\.number)])
        first.fetchLimit = 1
        return {
          for player in players {
            player.number += count
            try sample.context.save()
            let found = try sample.makeContext().fetch(first).count
            try expect(found, is: 1, "the players")
          }
          try expect(try then.fetch(first)[0].number, is: 0, "the first number")
        }
      },
    ]
  }
}

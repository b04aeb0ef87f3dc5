import Foundation
import SwiftData

extension Growth {
  /// Requests to a store of as many models, nothing unsaved.
  static var requests: [Growth] {
    [
      Growth("fetch, every attribute read") { sample, count in
        _ = try sample.players(count)
        let other = sample.makeContext()
        return {
          let players = try other.fetch(FetchDescriptor<Player>())
          let sum = players.reduce(0) { $0 + $1.number + $1.points + $1.name.utf8.count * 0 }
          try expect(sum, is: count * (count - 1) / 2, "the sum of numbers")
        }
      },
      Growth("fetch one by a unique name, each") { sample, count in
        _ = try sample.players(count)
        let other = sample.makeContext()
        return {
          for number in 0..<count {
            let name = "player \(number)"
            let wanted = FetchDescriptor<Player>(predicate: #Predicate { $0.name == name })
            try expect(other.fetch(wanted).count, is: 1, "the players of a name")
          }
        }
      },
      Growth("fetch by a set of names") { sample, count in
        _ = try sample.players(count)
        let other = sample.makeContext()
        let names = Set((0..<count).map { "player \($0)" })
        return {
          let wanted = FetchDescriptor<Player>(predicate: #Predicate { names.contains($0.name) })
          try expect(other.fetch(wanted).count, is: count, "the players")
        }
      },
      Growth("fetch by a set of identifiers") { sample, count in
        let names = Set(try sample.players(count).map(\.persistentModelID))
        let other = sample.makeContext()
        return {
          let wanted = FetchDescriptor<Player>(
            predicate: #Predicate { names.contains($0.persistentModelID) }
          )
          try expect(other.fetch(wanted).count, is: count, "the players")
        }
      },
      Growth("fetch across a to-one relationship") { sample, count in
        _ = try sample.teams(count)
        let other = sample.makeContext()
        return {
          let wanted = FetchDescriptor<Player>(predicate: #Predicate { $0.team?.name == "team 7" })
          try expect(other.fetch(wanted).count, is: 1, "the players of a team")
        }
      },
      Growth("enumerate") { sample, count in
        _ = try sample.players(count)
        let other = sample.makeContext()
        return {
          var sum = 0
          try other.enumerate(FetchDescriptor<Player>(), batchSize: 500) { sum += $0.number }
          try expect(sum, is: count * (count - 1) / 2, "the sum of numbers")
        }
      },
      Growth("traverse to-ones of as many children") { sample, count in
        _ = try sample.teams(count)
        let other = sample.makeContext()
        return {
          var found = 0
          for player in try other.fetch(FetchDescriptor<Player>()) {
            found += player.team?.name.isEmpty == false ? 1 : 0
          }
          try expect(found, is: count, "the players with a team")
        }
      },
    ]
  }
}

import Foundation
import SwiftData

extension Growth {
  /// Earlier states: read as they were, compared with now, and restored.
  static var earlierStates: [Growth] {
    [
      Growth("fetch all as they were, and read them") { sample, count in
        let token = try savedOneByOne(count, in: sample)
        return {
          let then = try ModelContext(sample.container, asOf: token)
          let points = try then.fetch(FetchDescriptor<Player>()).reduce(0) { $0 + $1.points }
          try expect(points, is: 0, "the points")
        }
      },
      Growth("look each up by an index of an earlier state") { sample, count in
        let token = try savedOneByOne(count, in: sample)
        return {
          let then = try ModelContext(sample.container, asOf: token)
          for number in 0..<count {
            let found = try then.fetchCount(
              FetchDescriptor<Player>(predicate: #Predicate { $0.number == number })
            )
            try expect(found, is: 1, "the players")
          }
        }
      },
      Growth("move a context through as many states, and read a model in each") { sample, count in
        // Each move reads the log up to there.
        let token = try savedOneByOne(100, in: sample)
        let history = try sample.context.fetchHistory(
          HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token > token })
        )
        return {
          let then = try ModelContext(sample.container, asOf: token)
          let first = FetchDescriptor<Player>(predicate: #Predicate { $0.number == 0 })
          let player = try then.fetch(first)[0]
          var points = 0
          for place in 0..<count {
            try then.show(asOf: history[place % history.count].token)
            points += player.points
          }
          try expect(points, is: count, "the points")
        }
      },
      Growth("difference from an earlier state") { sample, count in
        let token = try savedOneByOne(count, in: sample)
        return {
          let difference = try sample.context.difference(from: token)
          try expect(difference.updated.count, is: count, "the changed models")
        }
      },
      Growth("take back sets that were saved one by one") { _, count in
        let sample = try Sample.withHistory()
        let token = try savedOneByOne(count, in: sample)
        return {
          let reversal = try sample.context.revert(author: "one by one", since: token)
          try expect(reversal.updated.count, is: count, "the changed models")
        }
      },
      Growth("take back as many sets of one model, each between two of another author") {
        _,
        count in
        let sample = try Sample.withHistory()
        let player = try sample.players(1)[0]
        for number in 0..<count {
          sample.context.author = number.isMultiple(of: 2) ? "even" : "odd"
          player.points = number
          try sample.context.save()
        }
        return {
          let reversal = try sample.context.revert(author: count.isMultiple(of: 2) ? "odd" : "even")
          try expect(reversal.updated.count, is: 1, "the changed models")
        }
      },
      Growth("take back insertions, and save") { _, count in
        let sample = try Sample.withHistory()
        sample.context.author = "one"
        _ = try sample.team(count)
        return {
          let reversal = try sample.context.revert(author: "one")
          try expect(reversal.deleted.count, is: count + 1, "the deleted models")
          try sample.context.save()
        }
      },
      Growth("take back the deletion of a parent and its parts, and save") { _, count in
        let sample = try Sample.withHistory()
        let (album, _) = try sample.album(count)
        sample.context.author = "one"
        sample.context.delete(album)
        try sample.context.save()
        return {
          let reversal = try sample.context.revert(author: "one")
          try expect(reversal.restored.count, is: count + 1, "the restored models")
          try sample.context.save()
        }
      },
      Growth("take back moves that were saved one by one, and save") { _, count in
        let sample = try Sample.withHistory()
        let (team, players) = try sample.team(count)
        let other = Team("other")
        sample.context.insert(other)
        try sample.context.save()
        sample.context.author = "one"
        for player in players {
          player.team = other
          try sample.context.save()
        }
        return {
          let reversal = try sample.context.revert(author: "one")
          try expect(reversal.conflicts.count, is: 0, "the conflicts")
          try expect(team.players.count, is: count, "the members")
          try sample.context.save()
        }
      },
      Growth("take back appends to a stored list that were saved one by one, and save") {
        _,
        count in
        let sample = try Sample.withHistory()
        let club = Club("all")
        sample.context.insert(club)
        let players = try sample.players(count)
        sample.context.author = "one"
        // A save writes the whole list, so that as many single ones would be quadratic before it begins.
        for part in stride(from: 0, to: count, by: max(1, count / 20)) {
          club.members += players[part..<min(part + max(1, count / 20), count)]
          try sample.context.save()
        }
        return {
          let reversal = try sample.context.revert(author: "one")
          try expect(reversal.conflicts.count, is: 0, "the conflicts")
          try expect(club.members.count, is: 0, "the members")
          try sample.context.save()
        }
      },
    ]
  }

  /// Gives players points, one save each.
  ///
  /// - Returns: A bookmark before that.
  private static func savedOneByOne(
    _ count: Int,
    in sample: Sample
  ) throws -> DefaultHistoryToken {
    let players = try sample.players(count)
    let newest = HistoryDescriptor<DefaultHistoryTransaction>(
      sortBy: [SortDescriptor(\.token, order: .reverse)]
    )
    guard let token = try sample.context.fetchHistory(newest).first?.token else {
      throw UnexpectedResult(description: "no transaction")
    }
    sample.context.author = "one by one"
    for player in players {
      player.points = 1
      try sample.context.save()
    }
    return token
  }
}

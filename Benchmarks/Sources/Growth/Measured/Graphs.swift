import Foundation
import SwiftData

extension Growth {
  /// Moves and deletions along relationships.
  static var graphs: [Growth] {
    [
      Growth("move saved children to another parent, and save") { sample, count in
        let players = try sample.team(count).players
        let other = Team("second")
        sample.context.insert(other)
        return {
          for player in players { player.team = other }
          try sample.context.save()
        }
      },
      Growth("move unsaved children to another parent") { sample, count in
        let team = try sample.team(0).team
        let other = Team("second")
        sample.context.insert(other)
        let players = (0..<count).map(Player.init)
        team.players = players
        return { for player in players { player.team = other } }
      },
      Growth("delete a parent, nullify, and save") { sample, count in
        let team = try sample.team(count).team
        return {
          sample.context.delete(team)
          try sample.context.save()
        }
      },
      Growth("delete a parent, cascade, and save") { sample, count in
        let album = try sample.album(count).album
        return {
          sample.context.delete(album)
          try sample.context.save()
        }
      },
      Growth("delete(model:) of parents with a child each, nullify, and save") { sample, count in
        _ = try sample.teams(count)
        let other = sample.makeContext()
        return {
          try other.delete(model: Team.self)
          try other.save()
          try expect(other.fetchCount(FetchDescriptor<Player>()), is: count, "the players")
        }
      },
      Growth("delete(model:) of parents with a child each, cascade, and save") { sample, count in
        _ = try sample.albums(count)
        let other = sample.makeContext()
        return {
          try other.delete(model: Album.self)
          try other.save()
          try expect(other.fetchCount(FetchDescriptor<Photo>()), is: 0, "the photos")
        }
      },
      Growth("delete members one by one, and save") { sample, count in
        let players = try sample.team(count).players
        return {
          for player in players { sample.context.delete(player) }
          try sample.context.save()
        }
      },
      Growth("delete unsaved members one by one") { sample, count in
        let team = try sample.team(0).team
        let players = (0..<count).map(Player.init)
        team.players = players
        return { for player in players { sample.context.delete(player) } }
      },
      Growth("insert a chain that initializers have linked, by its end") { sample, count in
        let last = Message.chain(count)
        return {
          sample.context.insert(last)
          try expect(sample.context.insertedModelsArray.count, is: count, "the inserted models")
        }
      },
      Growth("read a chain of lists down, and let it go") { sample, count in
        sample.context.insert(Message.chain(count))
        try sample.context.save()
        let other = sample.makeContext()
        let first = FetchDescriptor<Message>(predicate: #Predicate { $0.number == 0 })
        return {
          var read = 0
          let root = try other.fetch(first)
          var next = root.first
          while let message = next {
            read += 1
            next = message.answers.first
          }
          try expect(read, is: count, "the messages")
          // Held by nobody but the first one: all go with it.
          withExtendedLifetime(root) {}
        }
      },
      Growth("make parents with a child each, and save") { sample, count in
        { _ = try sample.teams(count) }
      },
      Growth("swap the children of parents with one each, and save") { sample, count in
        let teams = try sample.teams(count)
        let players = teams.map { $0.players }
        return {
          for (index, team) in teams.enumerated() { team.players = players[(index + 1) % count] }
          try sample.context.save()
        }
      },
      Growth("read lists of parents, their children changed") { sample, count in
        _ = try sample.teams(count)
        let other = sample.makeContext()
        for player in try other.fetch(FetchDescriptor<Player>()) { player.points += 1 }
        let teams = try other.fetch(FetchDescriptor<Team>())
        return {
          try expect(teams.reduce(0) { $0 + $1.players.count }, is: count, "the members")
        }
      },
    ]
  }
}

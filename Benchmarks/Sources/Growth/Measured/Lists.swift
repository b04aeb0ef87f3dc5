import Foundation
import SwiftData

extension Growth {
  /// Changes of one list; each with a save where it says so.
  static var lists: [Growth] {
    [
      Growth("append one by one, and save") { sample, count in
        let team = try sample.team(0).team
        let players = try sample.players(count)
        return {
          for player in players { team.players.append(player) }
          try sample.context.save()
        }
      },
      Growth("append one by one to a list of a model that is in no context") { sample, count in
        let team = Team("alone")
        let players = (0..<count).map { Player($0) }
        return {
          for player in players { team.players.append(player) }
          sample.context.insert(team)
          try expect(team.players.count, is: count, "the members")
        }
      },
      Growth("append one by one with an undo manager") { sample, count in
        let team = try sample.team(0).team
        let players = try sample.players(count)
        sample.context.undoManager = UndoManager()
        return { for player in players { team.players.append(player) } }
      },
      Growth("append a save each to a list of as many") { sample, count in
        let team = try sample.team(count).team
        return {
          for number in 0..<count / 10 {
            team.players.append(Player(count + number))
            try sample.context.save()
          }
        }
      },
      Growth("append to a list of as many beside a save of another class, each time") {
        sample,
        count in
        let team = try sample.team(count).team
        let other = sample.makeContext()
        return {
          for number in 0..<count / 10 {
            other.insert(Club("other"))
            try other.save()
            team.players.append(Player(count + number))
            try sample.context.save()
          }
        }
      },
      Growth("append to a list of as many, and take it back, each time") { sample, count in
        let team = try sample.team(count).team
        return {
          for number in 0..<count / 10 {
            team.players.append(Player(count + number))
            sample.context.rollback()
            try expect(team.players.count, is: count, "the members")
          }
        }
      },
      Growth("move a member to another list and save it, each by itself") { sample, count in
        let (team, players) = try sample.team(count)
        let other = Team("other")
        sample.context.insert(other)
        try sample.context.save()
        return {
          for player in players {
            player.team = other
            try sample.context.save()
          }
          try expect(team.players.count, is: 0, "the members")
          try expect(other.players.count, is: count, "the other's members")
        }
      },
      Growth("delete a member, make another one, and save, each by itself") { sample, count in
        let (team, players) = try sample.team(count)
        return {
          for player in players {
            sample.context.delete(player)
            let next = Player(count + player.number)
            next.team = team
            sample.context.insert(next)
            try sample.context.save()
          }
          try expect(team.players.count, is: count, "the members")
        }
      },
      Growth("removeLast one by one, and save") { sample, count in
        let team = try sample.team(count).team
        return {
          for _ in 0..<count { team.players.removeLast() }
          try sample.context.save()
        }
      },
      Growth("insert(at: 0), a hundred times, and save") { sample, count in
        let team = try sample.team(count).team
        return {
          for number in 0..<100 { team.players.insert(Player(count + number), at: 0) }
          try sample.context.save()
        }
      },
      Growth("move the last to the front, a hundred times, and save") { sample, count in
        let team = try sample.team(count).team
        return {
          for _ in 0..<100 { team.players.insert(team.players.removeLast(), at: 0) }
          try sample.context.save()
        }
      },
      Growth("reverse, and save") { sample, count in
        let team = try sample.team(count).team
        return {
          team.players.reverse()
          try sample.context.save()
        }
      },
      Growth("set to [] of saved members, and save") { sample, count in
        let team = try sample.team(count).team
        return {
          team.players = []
          try sample.context.save()
        }
      },
      Growth("set to [] of unsaved members") { sample, count in
        let team = try sample.team(0).team
        team.players = (0..<count).map(Player.init)
        return { team.players = [] }
      },
      Growth("append one by one to a many-to-many, and save") { sample, count in
        let club = Club("first")
        sample.context.insert(club)
        let players = try sample.players(count)
        return {
          for player in players { club.members.append(player) }
          try sample.context.save()
        }
      },
      Growth("append to a many-to-many of as many, a hundred saves") { sample, count in
        let club = try sample.club(count)
        return {
          for number in 0..<100 {
            club.members.append(Player(count + number))
            try sample.context.save()
          }
        }
      },
      Growth("join a many-to-many of as many unread, a hundred saves") { sample, count in
        let name = try sample.club(count).persistentModelID
        let context = sample.makeContext()
        return {
          guard let club = context.model(for: name) as? Club else { return }
          for number in 0..<100 {
            let player = Player(count + number)
            context.insert(player)
            player.clubs.append(club)
            try context.save()
          }
        }
      },
      Growth("removeLast from a many-to-many of as many, a hundred saves") { sample, count in
        let club = try sample.club(count)
        return {
          for _ in 0..<100 {
            club.members.removeLast()
            try sample.context.save()
          }
        }
      },
      Growth("removeFirst from a many-to-many of as many, a hundred saves") { sample, count in
        let club = try sample.club(count)
        return {
          for _ in 0..<100 {
            club.members.removeFirst()
            try sample.context.save()
          }
        }
      },
      Growth("insert(at: 0) in a many-to-many of as many, a hundred saves") { sample, count in
        let club = try sample.club(count)
        return {
          for number in 0..<100 {
            club.members.insert(Player(count + number), at: 0)
            try sample.context.save()
          }
        }
      },
      Growth("join a many-to-many from the members' side, and save") { sample, count in
        let club = Club("first")
        sample.context.insert(club)
        let players = try sample.players(count)
        return {
          for player in players { player.clubs.append(club) }
          try sample.context.save()
        }
      },
      Growth("removeFirst, a hundred times, with an undo manager") { sample, count in
        let team = try sample.team(count).team
        sample.context.undoManager = UndoManager()
        return { for _ in 0..<100 { team.players.removeFirst() } }
      },
      Growth("swapAt one by one, and save") { sample, count in
        let (team, players) = try sample.team(count)
        return {
          for index in 1..<count { team.players.swapAt(index - 1, index) }
          try sample.context.save()
          try expect(team.players[count - 1].number, is: players[0].number, "the last number")
        }
      },
      Growth("append and save, a hundred times, another context saving in between") {
        sample,
        count in
        let team = try sample.team(count).team
        let other = sample.makeContext()
        return {
          for number in 0..<100 {
            other.insert(Club("\(number)"))
            try other.save()
            team.players.append(Player(count + number))
            try sample.context.save()
          }
        }
      },
      Growth("delete another model, and append to a list without inverse, each by itself") {
        sample,
        count in
        let poll = Poll("first")
        sample.context.insert(poll)
        let others = try sample.players(count)
        poll.leaders = (count..<2 * count).map(Player.init)
        try sample.context.save()
        return {
          for other in others {
            sample.context.delete(other)
            poll.leaders.append(Player(2 * count + other.number))
          }
          try expect(poll.leaders.count, is: 2 * count, "the members")
        }
      },
      Growth("read members by position") { sample, count in
        let team = try sample.team(count).team
        return {
          var sum = 0
          for index in 0..<count { sum += team.players[index].number }
          try expect(sum, is: count * (count - 1) / 2, "the sum of numbers")
        }
      },
      Growth("read a list in another context") { sample, count in
        let name = try sample.team(count).team.persistentModelID
        let other = sample.makeContext()
        return {
          let team = other.model(for: name) as? Team
          var sum = 0
          for player in team?.players ?? [] { sum += player.number }
          try expect(sum, is: count * (count - 1) / 2, "the sum of numbers")
        }
      },
    ]
  }
}

import Foundation
import SwiftData

extension Growth {
  /// Undo, rollback, merging, and saves beside much that is registered.
  static var contexts: [Growth] {
    [
      Growth("insert, and save") { sample, count in
        { _ = try sample.players(count) }
      },
      Growth("insert what replaces saved models by a unique name, and save") { sample, count in
        _ = try sample.players(count)
        return { _ = try sample.players(count) }
      },
      Growth("drop contexts that merge, the oldest first") { sample, count in
        var contexts = (0..<count).map { _ in
          let context = sample.makeContext()
          context.automaticallyMergesChanges = true
          return Optional(context)
        }
        return { for place in contexts.indices { contexts[place] = nil } }
      },
      Growth("change a model and save it, each by itself") { sample, count in
        let players = try sample.players(count)
        return {
          for player in players {
            player.points += 1
            try sample.context.save()
          }
        }
      },
      Growth("add a counted member and save it, each by itself") { sample, count in
        let ledger = Ledger("all")
        sample.context.insert(ledger)
        for _ in 0..<count { sample.context.insert(Entry(1, in: ledger)) }
        try sample.context.save()
        let context = sample.makeContext()
        let parent = try context.fetch(FetchDescriptor<Ledger>())[0]
        return {
          for _ in 0..<count {
            context.insert(Entry(1, in: parent))
            try context.save()
          }
          try expect(parent.total, is: 2 * count, "the total")
        }
      },
      Growth("change a counted member and save it, each by itself") { sample, count in
        let ledger = Ledger("all")
        sample.context.insert(ledger)
        for _ in 0..<count { sample.context.insert(Entry(1, in: ledger)) }
        try sample.context.save()
        let context = sample.makeContext()
        let entries = try context.fetch(FetchDescriptor<Entry>())
        return {
          for entry in entries {
            entry.amount += 1
            try context.save()
          }
        }
      },
      Growth("transaction for each of as many") { sample, count in
        let players = try sample.players(count)
        return {
          for player in players { try sample.context.transaction { player.points += 1 } }
        }
      },
      Growth("undo of sets") { sample, count in
        let undo = try change(count, in: sample)
        return {
          undo.undo()
          try expect(sample.context.changedModelsArray.count, is: 0, "the changed models")
        }
      },
      Growth("redo of sets") { sample, count in
        let undo = try change(count, in: sample)
        undo.undo()
        return {
          undo.redo()
          try expect(sample.context.changedModelsArray.count, is: count, "the changed models")
        }
      },
      Growth("undo of insertions") { sample, count in
        let undo = UndoManager()
        sample.context.undoManager = undo
        _ = try sample.players(count, saved: false)
        return {
          undo.undo()
          try expect(sample.context.insertedModelsArray.count, is: 0, "the inserted models")
        }
      },
      Growth("undo of deletions") { sample, count in
        let players = try sample.team(count).players
        let undo = UndoManager()
        sample.context.undoManager = undo
        for player in players { sample.context.delete(player) }
        return {
          undo.undo()
          try expect(sample.context.deletedModelsArray.count, is: 0, "the deleted models")
        }
      },
      Growth("undo of appends") { sample, count in
        let team = try sample.team(0).team
        let players = try sample.players(count)
        let undo = UndoManager()
        sample.context.undoManager = undo
        for player in players { team.players.append(player) }
        return {
          undo.undo()
          try expect(team.players.count, is: 0, "the members")
        }
      },
      Growth("undo of as many replacements") { sample, count in
        let (team, players) = try sample.team(count)
        let undo = UndoManager()
        sample.context.undoManager = undo
        for player in players {
          sample.context.delete(player)
          Player(count + player.number).team = team
        }
        return {
          undo.undo()
          try expect(team.players.count, is: count, "the members")
        }
      },
      Growth("undo of moves, each by itself") { sample, count in
        try undoOfMoves(count, areSaved: false, in: sample)
      },
      Growth("undo of moves, each by itself, that were saved") { sample, count in
        try undoOfMoves(count, areSaved: true, in: sample)
      },
      Growth("undo of deletions of every second member") { sample, count in
        let (team, players) = try sample.team(count)
        let undo = UndoManager()
        sample.context.undoManager = undo
        for (place, player) in players.enumerated() where !place.isMultiple(of: 2) {
          sample.context.delete(player)
        }
        return {
          undo.undo()
          try expect(team.players.count, is: count, "the members")
        }
      },
      Growth("rollback of sets") { sample, count in
        for player in try sample.players(count) { player.points += 1 }
        return {
          sample.context.rollback()
          try expect(sample.context.hasChanges ? 1 : 0, is: 0, "what has changes")
        }
      },
      Growth("rollback of insertions") { sample, count in
        _ = try sample.players(count, saved: false)
        return {
          sample.context.rollback()
          try expect(sample.context.hasChanges ? 1 : 0, is: 0, "what has changes")
        }
      },
      Growth("rollback of deletions") { sample, count in
        for player in try sample.team(count).players { sample.context.delete(player) }
        return {
          sample.context.rollback()
          try expect(sample.context.hasChanges ? 1 : 0, is: 0, "what has changes")
        }
      },
      Growth("merge of foreign deletions, all changed here") { sample, count in
        let players = try sample.players(count)
        sample.context.automaticallyMergesChanges = true
        for player in players { player.points += 1 }
        let other = sample.makeContext()
        try other.delete(model: Player.self)
        try other.save()
        return { sample.context.processPendingChanges() }
      },
      Growth("merge of foreign deletions") { sample, count in
        let players = try sample.team(count).players
        sample.context.automaticallyMergesChanges = true
        let other = sample.makeContext()
        try other.delete(model: Player.self)
        try other.save()
        return {
          sample.context.processPendingChanges()
          try expect(players.count { $0.modelContext != nil }, is: 0, "the players that are left")
        }
      },
      Growth("merge of foreign changes") { sample, count in
        let players = try sample.players(count)
        sample.context.automaticallyMergesChanges = true
        let other = sample.makeContext()
        for player in try other.fetch(FetchDescriptor<Player>()) { player.points = 1 }
        try other.save()
        return {
          sample.context.processPendingChanges()
          try expect(players.reduce(0) { $0 + $1.points }, is: count, "the points")
        }
      },
      Growth("merge of one foreign change, a hundred times, as many registered") { sample, count in
        let players = try sample.team(count).players
        sample.context.automaticallyMergesChanges = true
        let other = sample.makeContext()
        let theirs = other.model(for: players[count / 2].persistentModelID) as? Player
        return {
          for _ in 0..<100 {
            theirs?.points += 1
            try other.save()
            sample.context.processPendingChanges()
          }
          try expect(players[count / 2].points, is: 100, "the points")
        }
      },
      Growth("model(for:) of temporary identifiers") { sample, count in
        let names = try sample.players(count, saved: false).map(\.persistentModelID)
        return {
          var sum = 0
          for name in names { sum += (sample.context.model(for: name) as? Player)?.number ?? -1 }
          try expect(sum, is: count * (count - 1) / 2, "the sum of numbers")
        }
      },
      Growth("model(for:) in another context, read") { sample, count in
        let names = try sample.players(count).map(\.persistentModelID)
        let other = sample.makeContext()
        return {
          var sum = 0
          for name in names { sum += (other.model(for: name) as? Player)?.number ?? -1 }
          try expect(sum, is: count * (count - 1) / 2, "the sum of numbers")
        }
      },
    ]
  }

  /// Sets the points of so many players under an undo manager.
  private static func change(_ count: Int, in sample: Sample) throws -> UndoManager {
    let players = try sample.players(count)
    let undo = UndoManager()
    sample.context.undoManager = undo
    for player in players { player.points += 1 }
    return undo
  }

  /// Moves so many players to another team under an undo manager, and times taking that back.
  private static func undoOfMoves(
    _ count: Int,
    areSaved: Bool,
    in sample: Sample
  ) throws -> () throws -> Void {
    let (former, players) = try sample.team(count)
    let next = Team("next")
    sample.context.insert(next)
    try sample.context.save()
    let undo = UndoManager()
    sample.context.undoManager = undo
    for player in players { player.team = next }
    if areSaved { try sample.context.save() }
    return {
      undo.undo()
      try expect(former.players.count, is: count, "the members")
    }
  }
}

import Foundation
import SwiftData

// The schema that schedules work on: each shape of relationship, delete rule and index once, and no more.

/// The attributes of every model of the simulator, so that one piece of code can drive them all.
protocol SimulatedModel: PersistentModel {
  /// The row of the oracle that the model belongs to; given when it is made, and never changed.
  var key: Int { get set }
  var value: Int { get set }
  /// Few different values, and indexed where the class says so.
  var group: Int { get set }
  var note: String { get set }
}

@Model final class Team: SimulatedModel {
  var key: Int = 0
  var value: Int = 0
  var group: Int = 0
  var note: String = ""
  @Relationship(deleteRule: .nullify, inverse: \Player.team) var players: [Player] = []
  var parent: Team?
  @Relationship(deleteRule: .cascade, inverse: \Team.parent) var parts: [Team] = []

  init(_ key: Int) { self.key = key }
}

@Model class Player: SimulatedModel {
  #Index<Player>([\.group], [\.note])
  var key: Int = 0
  var value: Int = 0
  var group: Int = 0
  var note: String = ""
  var team: Team?
  @Relationship(deleteRule: .cascade, inverse: \Deal.player) var deals: [Deal] = []
  @Relationship(deleteRule: .nullify, inverse: \Badge.players) var badges: [Badge] = []
  @Relationship(deleteRule: .nullify, inverse: \Locker.player) var locker: Locker?

  init(_ key: Int) { self.key = key }
}

@Model final class Captain: Player {
  var armband: Int = 0

  override init(_ key: Int) { super.init(key) }
}

@Model final class Deal: SimulatedModel {
  var key: Int = 0
  var value: Int = 0
  var group: Int = 0
  var note: String = ""
  var player: Player?

  init(_ key: Int) { self.key = key }
}

@Model final class Badge: SimulatedModel {
  var key: Int = 0
  var value: Int = 0
  var group: Int = 0
  var note: String = ""
  var players: [Player] = []

  init(_ key: Int) { self.key = key }
}

@Model final class Locker: SimulatedModel {
  var key: Int = 0
  var value: Int = 0
  var group: Int = 0
  var note: String = ""
  var player: Player?

  init(_ key: Int) { self.key = key }
}

@Model final class Author: SimulatedModel {
  var key: Int = 0
  var value: Int = 0
  var group: Int = 0
  var note: String = ""
  @Relationship(deleteRule: .deny, inverse: \Book.author) var books: [Book] = []

  init(_ key: Int) { self.key = key }
}

@Model final class Book: SimulatedModel {
  #Index<Book>([\.value, \.group], [\.note])
  var key: Int = 0
  var value: Int = 0
  var group: Int = 0
  var note: String = ""
  var author: Author?

  init(_ key: Int) { self.key = key }
}

@Model final class Tag: SimulatedModel {
  var key: Int = 0
  var value: Int = 0
  var group: Int = 0
  var note: String = ""
  @Attribute(.unique) var code: Int = 0

  init(_ key: Int, code: Int) {
    self.key = key
    self.code = code
  }
}

/// The schema of every simulated store.
let simulatedSchema = Schema([
  Team.self, Player.self, Captain.self, Deal.self, Badge.self, Locker.self, Author.self, Book.self,
  Tag.self,
])

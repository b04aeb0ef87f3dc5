import Foundation
import LogStore
import SwiftData

/// A parent whose members stay when it goes.
@Model
final class Team {
  var name: String
  @Relationship(inverse: \Player.team) var players: [Player] = []

  init(_ name: String) { self.name = name }
}

/// A member of a team and of clubs.
@Model
final class Player {
  #Index<Player>([\.number])

  @Attribute(.unique) var name: String
  var number: Int
  var points = 0
  var team: Team?
  @Relationship(inverse: \Club.members) var clubs: [Club] = []

  init(_ number: Int) {
    name = "player \(number)"
    self.number = number
  }
}

/// One end of a many-to-many relationship.
@Model
final class Club {
  var name: String
  var members: [Player] = []

  init(_ name: String) { self.name = name }
}

/// A parent whose parts go when it goes.
@Model
final class Album {
  var title: String
  @Relationship(deleteRule: .cascade, inverse: \Photo.album) var photos: [Photo] = []

  init(_ title: String) { self.title = title }
}

/// A part of an album.
@Model
final class Photo {
  var number: Int
  var album: Album?

  init(_ number: Int) { self.number = number }
}

/// Has players who do not know of it.
@Model
final class Poll {
  var name: String
  var leaders: [Player] = []

  init(_ name: String) { self.name = name }
}

/// A message that its initializer makes the answer to another.
@Model
final class Message {
  var answered: Message?
  @Relationship(inverse: \Message.answered) var answers: [Message] = []
  var number: Int

  init(_ number: Int, answering answered: Message?) {
    // First, so that it is not the setter that links them.
    self.answered = answered
    self.number = number
  }

  /// So many messages, each the answer to the one before: the last of them.
  static func chain(_ count: Int) -> Message {
    var last = Message(0, answering: nil)
    for number in 1..<count { last = Message(number, answering: last) }
    return last
  }
}

/// A parent that counts its members and adds up their numbers.
@Model
final class Ledger {
  var name: String
  @Relationship(inverse: \Entry.ledger) var entries: [Entry] = []
  @Derived(.count(\Ledger.entries)) var entryCount: Int
  @Derived(.sum(of: \Entry.amount, over: \Ledger.entries)) var total: Int

  init(_ name: String) { self.name = name }
}

/// A member that its parent counts.
@Model
final class Entry {
  var amount: Int
  var ledger: Ledger?

  init(_ amount: Int, in ledger: Ledger) {
    self.amount = amount
    self.ledger = ledger
  }
}

/// A store in memory, and a context that many operations are done with.
struct Sample {
  let container: ModelContainer
  let context: ModelContext
  /// The folder of a store that is not in memory.
  private let folder: TemporaryFolder?

  init() throws {
    try self.init(ModelConfiguration(isStoredInMemoryOnly: true), in: nil)
  }

  /// A store in a folder, which keeps all of its history.
  static func withHistory() throws -> Sample {
    let folder = try TemporaryFolder()
    var configuration = LogStoreConfiguration(
      url: folder.url.appending(path: "models.store"),
      durability: .relaxed
    )
    configuration.compaction = .onDemand
    return try Sample(configuration, in: folder)
  }

  private init(_ configuration: any DataStoreConfiguration, in folder: TemporaryFolder?) throws {
    container = try ModelContainer(
      for: Schema([
        Team.self, Player.self, Club.self, Album.self, Photo.self, Ledger.self, Entry.self,
        Poll.self, Message.self,
      ]),
      configurations: [configuration]
    )
    context = ModelContext(container)
    self.folder = folder
  }

  /// Another context, where nothing is registered.
  func makeContext() -> ModelContext { ModelContext(container) }

  /// Inserts players, and saves them unless told otherwise.
  func players(_ count: Int, saved: Bool = true) throws -> [Player] {
    let players = (0..<count).map(Player.init)
    for player in players { context.insert(player) }
    if saved { try context.save() }
    return players
  }

  /// A saved team, with so many saved players.
  func team(_ count: Int) throws -> (team: Team, players: [Player]) {
    let team = Team("first")
    context.insert(team)
    let players = (0..<count).map(Player.init)
    for player in players { context.insert(player) }
    team.players = players
    try context.save()
    return (team, players)
  }

  /// A saved club, with so many saved members.
  func club(_ count: Int) throws -> Club {
    let club = Club("first")
    context.insert(club)
    club.members = try players(count)
    try context.save()
    return club
  }

  /// A saved album, with so many saved photos.
  func album(_ count: Int) throws -> (album: Album, photos: [Photo]) {
    let album = Album("first")
    context.insert(album)
    let photos = (0..<count).map(Photo.init)
    album.photos = photos
    try context.save()
    return (album, photos)
  }

  /// So many saved albums with a photo each.
  func albums(_ count: Int) throws -> [Album] {
    let albums = (0..<count).map { Album("album \($0)") }
    for (number, album) in albums.enumerated() {
      context.insert(album)
      album.photos = [Photo(number)]
    }
    try context.save()
    return albums
  }

  /// So many saved teams with a player each.
  func teams(_ count: Int) throws -> [Team] {
    let teams = (0..<count).map { Team("team \($0)") }
    for (number, team) in teams.enumerated() {
      context.insert(team)
      team.players = [Player(number)]
    }
    try context.save()
    return teams
  }
}

/// A folder that goes with its last user.
private final class TemporaryFolder {
  let url = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)

  init() throws {
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }
}

/// An operation did not do what it was timed for.
struct UnexpectedResult: Error, CustomStringConvertible {
  let description: String
}

/// Stops the run where an answer is wrong.
func expect(_ found: Int, is expected: Int, _ what: String) throws {
  guard found == expected else {
    throw UnexpectedResult(description: "\(what) is \(found) where \(expected) was expected")
  }
}

import Foundation
import LogStore
import SwiftData

// Teams of players, whose deals and medals are related to them in every way there is.

@Model final class Team {
  var key: Int
  var name: String?
  @Relationship(inverse: \Player.team) var members: [Player] = []
  @Relationship(inverse: \Player.captainOf) var captain: Player?
  @Relationship(deleteRule: .deny, inverse: \Trophy.team) var trophies: [Trophy] = []
  init(_ key: Int) { self.key = key }
}

@Model class Player {
  var key: Int
  var points = 0
  var team: Team?
  var captainOf: Team?
  @Relationship(deleteRule: .cascade, inverse: \Deal.player) var deals: [Deal] = []
  @Relationship(inverse: \Medal.players) var medals: [Medal] = []
  init(_ key: Int) { self.key = key }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, *)
@Model final class Goalkeeper: Player {
  var gloves = "large"
  override init(_ key: Int) { super.init(key) }
}

@Model final class Deal {
  var key: Int
  var player: Player?
  init(_ key: Int) { self.key = key }
}

@Model final class Medal {
  var key: Int
  var players: [Player] = []
  init(_ key: Int) { self.key = key }
}

@Model final class Trophy {
  var key: Int
  var team: Team?
  init(_ key: Int) { self.key = key }
}

@Model final class Stranger {
  var key: Int
  init(_ key: Int) { self.key = key }
}

/// A club's store, on disk so that it can be opened again.
struct Club {
  private let folder: TemporaryFolder
  let container: ModelContainer

  init() throws {
    folder = try TemporaryFolder()
    container = try Club.open(folder)
  }

  private static func open(_ folder: TemporaryFolder) throws -> ModelContainer {
    let schema = Schema([
      Team.self, Player.self, Goalkeeper.self, Deal.self, Medal.self, Trophy.self,
    ])
    let url = folder.url.appending(path: "club.store")
    return try ModelContainer(
      for: schema,
      configurations: LogStoreConfiguration(schema: schema, url: url, durability: .relaxed)
    )
  }

  /// Runs a block with the store opened by the path alone, after everything else was let go of.
  static func reopening(
    _ use: (ModelContainer) throws -> Void,
    then check: (ModelContainer) throws -> Void
  ) throws {
    let folder = try TemporaryFolder()
    func run(_ body: (ModelContainer) throws -> Void) throws { try body(try open(folder)) }
    try run(use)
    try run(check)
  }

  /// A context with models of its own.
  @discardableResult
  func context(_ insert: (ModelContext) -> Void = { _ in }) throws -> ModelContext {
    let context = ModelContext(container)
    insert(context)
    try context.save()
    return context
  }
}

extension ModelContext {
  func team(_ key: Int) throws -> Team { try one(#Predicate { $0.key == key }) }
  func player(_ key: Int) throws -> Player { try one(#Predicate { $0.key == key }) }
  func medal(_ key: Int) throws -> Medal { try one(#Predicate { $0.key == key }) }

  private func one<T: PersistentModel>(_ predicate: Predicate<T>) throws -> T {
    let found = try fetch(FetchDescriptor<T>(predicate: predicate))
    guard let first = found.first else { throw Missing() }
    return first
  }

  private struct Missing: Error {}
}

import Foundation
import LogStore
import SwiftData

// Towns whose dwellers and posts stay when they go: a post knows its town only, a dweller is of a lodge, too.

@Model final class Town {
  var key: Int
  @Relationship(deleteRule: .nullify, inverse: \Dweller.town) var dwellers: [Dweller] = []
  @Relationship(deleteRule: .nullify, inverse: \Post.town) var posts: [Post] = []
  init(_ key: Int) { self.key = key }
}

@Model final class Lodge {
  var key: Int
  @Relationship(deleteRule: .nullify, inverse: \Dweller.lodge) var members: [Dweller] = []
  init(_ key: Int) { self.key = key }
}

@Model class Dweller {
  var key: Int
  var name: String
  var town: Town?
  var lodge: Lodge?
  init(_ key: Int) {
    self.key = key
    name = "dweller \(key)"
  }
}

@Model final class Mayor: Dweller {
  var chain = 0
  override init(_ key: Int) { super.init(key) }
}

@Model final class Post {
  var key: Int
  var town: Town?
  init(_ key: Int) { self.key = key }
}

/// A store of towns, in memory.
struct Towns {
  let container: ModelContainer

  init() throws {
    container = try ModelContainer(
      for: Schema([Town.self, Lodge.self, Dweller.self, Mayor.self, Post.self]),
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
  }

  /// Saves a town with three dwellers and two posts, and returns a context that has no objects.
  func context(town key: Int = 1) throws -> ModelContext {
    try elsewhere { context in
      let town = Town(key)
      context.insert(town)
      town.dwellers = [Dweller(10 * key), Mayor(10 * key + 1), Dweller(10 * key + 2)]
      town.posts = [Post(10 * key), Post(10 * key + 1)]
    }
    return ModelContext(container)
  }

  /// Changes something in a context of its own.
  func elsewhere(_ change: (ModelContext) throws -> Void) throws {
    let context = ModelContext(container)
    try change(context)
    try context.save()
  }

  /// What is stored.
  func stored() throws -> [String] { try ModelContext(container).texts() }
}

extension ModelContext {
  func town(_ key: Int) throws -> Town? {
    try fetch(FetchDescriptor<Town>(predicate: #Predicate { $0.key == key })).first
  }

  func lodge(_ key: Int) throws -> Lodge? {
    try fetch(FetchDescriptor<Lodge>(predicate: #Predicate { $0.key == key })).first
  }

  func dweller(_ key: Int) throws -> Dweller? {
    try fetch(FetchDescriptor<Dweller>(predicate: #Predicate { $0.key == key })).first
  }

  /// All that the context shows of towns.
  func texts() throws -> [String] {
    try
      (fetch(FetchDescriptor<Town>()).map {
        "town \($0.key): \($0.dwellers.map(\.key)) \($0.posts.map(\.key))"
      } + fetch(FetchDescriptor<Lodge>()).map { "lodge \($0.key): \($0.members.map(\.key))" }
      + fetch(FetchDescriptor<Dweller>()).map {
        "\($0.name) of \($0.town?.key ?? -1), \($0.lodge?.key ?? -1)"
      } + fetch(FetchDescriptor<Post>()).map { "post \($0.key) of \($0.town?.key ?? -1)" })
      .sorted()
  }
}

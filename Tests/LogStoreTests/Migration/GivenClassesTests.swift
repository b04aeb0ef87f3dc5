import Foundation
import LogStore
import SwiftData
import Testing

// A plan of which two versions have one shape: the classes that a container is given say which it is.

private enum V1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Author.self, Book.self] }

  @Model final class Author {
    var first: String = ""
    var last: String = ""
    init() {}
  }
  @Model final class Book {
    var title: String = ""
    init() {}
  }
}

private enum V2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Author.self, V1.Book.self] }

  @Model final class Author {
    @Attribute(originalName: "last") var first: String = ""
    @Attribute(originalName: "first") var last: String = ""
    init() {}
  }
}

private enum Plan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
  static var stages: [MigrationStage] { [.lightweight(fromVersion: V1.self, toVersion: V2.self)] }
}

@Suite struct `A container that is given classes, and a plan` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open(_ models: any PersistentModel.Type...) throws -> ModelContext {
    ModelContext(
      try ModelContainer(
        for: Schema(models),
        migrationPlan: Plan.self,
        configurations: LogStoreConfiguration(url: folder.url.appending(path: "books.store"))
      )
    )
  }

  @Test func `is of the version that lists these classes, though another has their shape`() throws {
    do {
      let context = try open(V1.Author.self, V1.Book.self)
      let author = V1.Author()
      context.insert(author)
      author.first = "Ursula"
      author.last = "Le Guin"
      try context.save()
    }
    do {
      let author = try #require(
        try open(V1.Author.self, V1.Book.self).fetch(FetchDescriptor<V1.Author>()).first
      )
      #expect([author.first, author.last] == ["Ursula", "Le Guin"])
    }
    for _ in 0..<2 {
      let author = try #require(
        try open(V2.Author.self, V1.Book.self).fetch(FetchDescriptor<V2.Author>()).first
      )
      #expect([author.first, author.last] == ["Le Guin", "Ursula"])
    }
  }
}

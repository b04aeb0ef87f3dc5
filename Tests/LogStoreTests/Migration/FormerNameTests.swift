import Foundation
import LogStore
import SwiftData
import Testing

private enum Named: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Book.self, Page.self] }

  @Model final class Book {
    var number: Int
    var count = 0
    var name: String = "default"
    var leaves: [Page] = []
    init(_ number: Int) { self.number = number }
  }
  @Model final class Page {
    var number: Int
    init(_ number: Int) { self.number = number }
  }
}

private enum Titled: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Book.self, Page.self] }

  @Model final class Book {
    var number: Int
    var count = 0
    @Attribute(originalName: "name") var title: String = "default"
    @Relationship(originalName: "leaves") var pages: [Page] = []
    init(_ number: Int) { self.number = number }
  }
  @Model final class Page {
    var number: Int
    init(_ number: Int) { self.number = number }
  }
}

/// Newer models, which use the former name for something else.
private enum Reused {
  @Model final class Book {
    var number: Int
    var count = 0
    var name: String = "new"
    var shelf: String = "shelf"
    init(_ number: Int) { self.number = number }
  }
}

private enum TitlePlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Named.self, Titled.self] }
  static var stages: [MigrationStage] {
    [.lightweight(fromVersion: Named.self, toVersion: Titled.self)]
  }
}

@Suite struct `A property that newer models renamed` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  enum Way: CaseIterable {
    case unversioned, versioned, planned
  }

  private func open(_ version: any VersionedSchema.Type, _ way: Way) throws -> ModelContext {
    let schema = way == .unversioned ? Schema(version.models) : Schema(versionedSchema: version)
    var configuration = LogStoreConfiguration(
      schema: schema,
      url: folder.url.appending(path: "books.store")
    )
    configuration.newerStores = .takeBack
    return ModelContext(
      try ModelContainer(
        for: schema,
        migrationPlan: way == .planned ? TitlePlan.self : nil,
        configurations: configuration
      )
    )
  }

  @Test(arguments: Way.allCases)
  func `has its values under both names, and those that older models save`(way: Way) throws {
    do {
      let context = try open(Named.self, way)
      let page = Named.Page(7)
      for number in 0..<4 {
        let book = Named.Book(number)
        book.name = "name\(number)"
        context.insert(book)
        book.leaves = [page]
      }
      try context.save()
    }
    for round in 1..<3 {
      do {
        let context = try open(Titled.self, way)
        let books = try context.fetch(FetchDescriptor<Titled.Book>(sortBy: [.init(\.number)]))
        if round == 1 { #expect(books.map(\.title) == ["name0", "name1", "name2", "name3"]) }
        books[1].count = round
        books[2].title = "title\(round)"
        try context.save()
      }
      do {
        let context = try open(Named.self, way)
        let books = try context.fetch(FetchDescriptor<Named.Book>(sortBy: [.init(\.number)]))
        #expect(books.map(\.name).prefix(3) == ["name0", "name1", "title\(round)"])
        #expect(books.allSatisfy { $0.leaves.map(\.number) == [7] })
        books[1].count = -round
        books[3].name = "changed\(round)"
        try context.save()
      }
      let context = try open(Titled.self, way)
      let books = try context.fetch(FetchDescriptor<Titled.Book>(sortBy: [.init(\.number)]))
      #expect(books.map(\.title) == ["name0", "name1", "title\(round)", "changed\(round)"])
      #expect(books.map(\.count) == [0, -round, 0, 0])
      #expect(books.allSatisfy { $0.pages.map(\.number) == [7] })
    }
  }

  @Test func `leaves its former name to newer models that have other properties, too`() throws {
    do {
      let context = try open(Named.self, .unversioned)
      let book = Named.Book(1)
      book.name = "a"
      context.insert(book)
      try context.save()
    }
    _ = try open(Titled.self, .unversioned)
    do {
      let schema = Schema([Reused.Book.self])
      let configuration = LogStoreConfiguration(
        schema: schema,
        url: folder.url.appending(path: "books.store")
      )
      let context = ModelContext(
        try ModelContainer(for: schema, configurations: configuration)
      )
      let book = try #require(try context.fetch(FetchDescriptor<Reused.Book>()).first)
      #expect(book.name == "new")
      book.shelf = "b"
      try context.save()
    }
    let context = try open(Titled.self, .unversioned)
    #expect(try context.fetch(FetchDescriptor<Titled.Book>()).map(\.title) == ["a"])
  }
}

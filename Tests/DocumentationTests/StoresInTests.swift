import Foundation
import JSONStore
import SwiftData
import Testing

// The snippets of the article Testing with stores in memory and with old stores, as they are printed there.

enum ShelfV1: VersionedSchema {
  static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
  static var models: [any PersistentModel.Type] { [Book.self] }

  @Model
  final class Book {
    var title: String
    init(title: String) { self.title = title }
  }
}

enum ShelfV2: VersionedSchema {
  static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
  static var models: [any PersistentModel.Type] { [Book.self] }

  @Model
  final class Book {
    @Attribute(originalName: "title") var name: String
    var pages = 0
    init(name: String, pages: Int) {
      self.name = name
      self.pages = pages
    }
  }
}

enum ShelfPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [ShelfV1.self, ShelfV2.self] }
  static var stages: [MigrationStage] {
    [.lightweight(fromVersion: ShelfV1.self, toVersion: ShelfV2.self)]
  }
}

typealias Book = ShelfV2.Book

func emptyShelf() throws -> ModelContainer {
  try ModelContainer(
    for: Book.self,
    configurations: ModelConfiguration(isStoredInMemoryOnly: true)
  )
}

@Suite struct `The article on stores in tests` {
  @Test func `gives each test a store of its own`() throws {
    let shelf = try emptyShelf()
    let context = ModelContext(shelf)
    context.insert(Book(name: "Momo", pages: 304))
    try context.save()
    #expect(try ModelContext(shelf).fetchCount(FetchDescriptor<Book>()) == 1)
    #expect(try ModelContext(emptyShelf()).fetchCount(FetchDescriptor<Book>()) == 0)
  }

  @Test func `shares a store in memory by its name`() throws {
    let name = UUID().uuidString
    let shared = ModelConfiguration(name, isStoredInMemoryOnly: true)
    let first = try ModelContainer(for: Book.self, configurations: shared)
    let second = try ModelContainer(for: Book.self, configurations: shared)
    let context = ModelContext(first)
    context.insert(Book(name: "Momo", pages: 304))
    try context.save()
    #expect(try ModelContext(second).fetchCount(FetchDescriptor<Book>()) == 1)
  }

  /// Stands for the folder that an earlier version's program left behind.
  private func oldStore(in folder: TestFolder) async throws -> URL {
    let place = folder.url.appending(path: "shelf-1.store")
    let container = try ModelContainer(
      for: Schema(versionedSchema: ShelfV1.self),
      configurations: LogStoreConfiguration(url: place)
    )
    let context = ModelContext(container)
    context.insert(ShelfV1.Book(title: "Momo"))
    try context.save()
    try await container.close()
    return place
  }

  @Test func `opens a store of version 1`() async throws {
    let folder = try TestFolder()
    let kept = try await oldStore(in: folder)
    let copy = folder.url.appending(path: "copy.store")
    try FileManager.default.copyItem(at: kept, to: copy)
    let container = try ModelContainer(
      for: Book.self,
      migrationPlan: ShelfPlan.self,
      configurations: LogStoreConfiguration(url: copy)
    )
    let books = try ModelContext(container).fetch(FetchDescriptor<Book>())
    #expect(books.map(\.name) == ["Momo"])
    #expect(books.map(\.pages) == [0])
    #expect(try container.stores(of: LogStore.self).first?.verify().isSound == true)
  }

  @Test(arguments: ["log", "json", "memory"])
  func `is the same in every store`(kind: String) throws {
    let folder = try TestFolder()
    let configuration: any DataStoreConfiguration =
      switch kind {
      case "log": LogStoreConfiguration(url: folder.url.appending(path: "shelf.store"))
      case "json":
        JSONStoreConfiguration(name: "shelf", url: folder.url.appending(path: "shelf.json"))
      default: ModelConfiguration(isStoredInMemoryOnly: true)
      }
    let container = try ModelContainer(for: Book.self, configurations: configuration)
    let context = ModelContext(container)
    context.insert(Book(name: "Momo", pages: 304))
    try context.save()
    let thick = FetchDescriptor<Book>(predicate: #Predicate { $0.pages > 300 })
    #expect(try ModelContext(container).fetch(thick).map(\.name) == ["Momo"])
  }
}

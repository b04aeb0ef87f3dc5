import Foundation
import ModelRuntime
import Testing

/// A model whose relationships have no other end.
@Model final class Stop {
  var name: String
  var next: Stop?
  var nearby: [Stop] = []

  init(_ name: String) { self.name = name }
}

@Suite struct `A list that nobody has looked into` {
  @Test func `is counted and searched without reading its rows`() throws {
    let configuration = MemoryStore.Configuration()
    let container = try ModelContainer(
      for: Schema([Author.self, Book.self, Chapter.self, Reader.self]),
      configurations: [configuration]
    )
    let context = ModelContext(container)
    let author = Author(name: "Calvino")
    author.books = (0..<50).map { Book(title: "\($0)") }
    context.insert(author)
    try context.save()

    let other = ModelContext(container)
    let found = try #require(try other.fetch(FetchDescriptor<Author>()).first)
    let book = other.model(for: author.books[7].persistentModelID)
    let before = configuration.archive.fetchCount
    #expect(found.books.count == 50)
    #expect(!found.books.isEmpty)
    #expect(found.books.contains { $0 === book })
    #expect(configuration.archive.fetchCount == before)
    #expect(found.books[7].title == "7")
    #expect(configuration.archive.fetchCount > before)
  }
}

@Suite struct `A change of many members` {
  /// How often a store is asked for models while members of an author's list leave it.
  private func fetchCount(
    ofMembers count: Int,
    _ change: (Author, ModelContext) -> Void
  ) throws -> Int {
    let configuration = MemoryStore.Configuration()
    let container = try ModelContainer(
      for: Schema([Author.self, Book.self, Chapter.self, Reader.self]),
      configurations: [configuration]
    )
    let context = ModelContext(container)
    let author = Author(name: "Calvino")
    author.books = (0..<count).map { Book(title: "\($0)") }
    context.insert(author)
    try context.save()

    let other = ModelContext(container)
    let found = try #require(try other.fetch(FetchDescriptor<Author>()).first)
    let before = configuration.archive.fetchCount
    change(found, other)
    #expect(found.isDeleted || found.books.isEmpty)
    return configuration.archive.fetchCount - before
  }

  @Test func `reads their rows at once where their parent is deleted`() throws {
    let few = try fetchCount(ofMembers: 3) { $1.delete($0) }
    #expect(try fetchCount(ofMembers: 30) { $1.delete($0) } == few)
  }

  @Test func `reads their rows at once where their list is set`() throws {
    let few = try fetchCount(ofMembers: 3) { author, _ in author.books = [] }
    #expect(try fetchCount(ofMembers: 30) { author, _ in author.books = [] } == few)
  }
}

@Suite struct `A relationship without another end` {
  let container: ModelContainer

  init() throws {
    container = try ModelContainer(
      for: Schema([Stop.self]),
      configurations: [MemoryStore.Configuration()]
    )
  }

  @Test func `reads as nil when its model is gone, and lists leave it out`() throws {
    let context = ModelContext(container)
    let stops = ["a", "b", "c"].map { Stop($0) }
    stops[0].next = stops[1]
    stops[0].nearby = [stops[1], stops[2]]
    context.insert(stops[0])
    try context.save()

    let other = ModelContext(container)
    let names = #Predicate<Stop> { $0.name == "b" }
    try other.delete(model: Stop.self, where: names)
    try other.save()

    let third = ModelContext(container)
    let first = try #require(third.model(for: stops[0].persistentModelID) as? Stop)
    #expect(first.next == nil)
    #expect(first.nearby.map(\.name) == ["c"])
  }
}

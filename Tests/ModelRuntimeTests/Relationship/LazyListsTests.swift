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

import Foundation
import ModelRuntime
import Testing

@Suite struct `An observer of results from a store of snapshots` {
  let configuration = MemoryStore.Configuration()
  let container: ModelContainer
  let context: ModelContext

  init() throws {
    container = try ModelContainer(
      for: Schema([Author.self, Book.self, Chapter.self, Reader.self]),
      configurations: [configuration]
    )
    context = ModelContext(container)
  }

  private func titles(_ observer: ResultsObserver<Book, Never>) -> [String] {
    observer.results.map(\.title)
  }

  @Test func `follows its own context and others`() throws {
    let observer = try ResultsObserver<Book, Never>(
      filterBy: #Predicate { $0.pages > 1 },
      sortBy: [SortDescriptor(\.title)],
      modelContext: context
    )
    let book = Book(title: "b", pages: 2)
    context.insert(book)
    #expect(titles(observer) == ["b"])
    try context.save()
    let sibling = ModelContext(container)
    sibling.insert(Book(title: "a", pages: 3))
    try sibling.save()
    #expect(titles(observer) == ["a", "b"])
    book.pages = 0
    #expect(titles(observer) == ["a"])
    context.rollback()
    #expect(titles(observer) == ["a", "b"])
  }

  @Test func `asks the store for nothing as long as nothing changes`() throws {
    let observer = try ResultsObserver<Book, Never>(modelContext: context)
    let before = configuration.archive.fetchCount
    context.insert(Author(name: "Calvino"))
    for _ in 0..<10 { #expect(observer.results.isEmpty) }
    #expect(configuration.archive.fetchCount == before)
    context.insert(Book(title: "a"))
    for _ in 0..<10 { #expect(observer.results.count == 1) }
    #expect(configuration.archive.fetchCount == before + 1)
  }

  @Test func `keeps what it shows, and says so, when a fetch fails later`() throws {
    let observer = try ResultsObserver<Book, Never>(modelContext: context)
    context.insert(Book(title: "a", pages: 1))
    #expect(titles(observer) == ["a"])
    configuration.archive.refusesToFetch = true
    context.insert(Book(title: "b", pages: 1))
    #expect(titles(observer) == ["a"])
    #expect(observer.fetchError is MemoryStore.Refusal)
    configuration.archive.refusesToFetch = false
    #expect(titles(observer) == ["a", "b"])
    #expect(observer.fetchError == nil)
  }

  @Test func `has cursors say once that a fetch has failed, and once that one succeeds again`()
    throws
  {
    let observer = try ResultsObserver<Book, Never>(modelContext: context)
    let cursor = observer.makeCursor()
    #expect(cursor.advance()?.fetchError == nil)
    configuration.archive.refusesToFetch = true
    context.insert(Book(title: "a", pages: 1))
    let failed = try #require(cursor.advance())
    #expect(failed.fetchError is MemoryStore.Refusal)
    #expect(failed.difference.isEmpty)
    context.insert(Book(title: "b", pages: 1))
    #expect(cursor.advance().map(\.results.count) == nil)
    configuration.archive.refusesToFetch = false
    let next = try #require(cursor.advance())
    #expect(next.fetchError == nil)
    #expect(next.difference.count == 2)
  }

  @Test func `finds out which models changed although it fetches again`() throws {
    for title in "abc" { context.insert(Book(title: String(title), pages: 1)) }
    try context.save()
    let observer = try ResultsObserver<Book, Never>(
      sortBy: [SortDescriptor(\.title)],
      modelContext: context
    )
    let cursor = observer.makeCursor()
    _ = cursor.advance()
    observer.results[1].pages = 7
    let change = try #require(cursor.advance())
    #expect(change.difference.isEmpty)
    #expect(change.updated.map(\.offset) == [1])
  }

  @Test func `throws when its first fetch fails`() throws {
    configuration.archive.refusesToFetch = true
    #expect(throws: MemoryStore.Refusal.self) {
      _ = try ResultsObserver<Book, Never>(modelContext: context)
    }
  }
}

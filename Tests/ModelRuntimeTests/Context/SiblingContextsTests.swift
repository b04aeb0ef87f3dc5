import Foundation
import ModelRuntime
import Testing

@Suite struct `Contexts of one container` {
  let container: ModelContainer
  let first: ModelContext
  let second: ModelContext

  init() throws {
    container = try makeLibrary()
    first = ModelContext(container)
    second = ModelContext(container)
  }

  /// A saved book, as both contexts have it.
  private func sharedBook() throws -> (Book, Book) {
    let book = Book(title: "Draft", pages: 1)
    first.insert(book)
    try first.save()
    let same = try #require(second.model(for: book.persistentModelID) as? Book)
    #expect(same.title == "Draft")
    return (book, same)
  }

  @Test func `do not see each other's saves unless they ask to`() throws {
    #expect(!first.automaticallyMergesChanges)
    let (book, same) = try sharedBook()
    book.title = "Final"
    try first.save()
    second.processPendingChanges()
    #expect(same.title == "Draft")
  }

  @Test func `see what another has saved when they fetch it again`() throws {
    let (book, same) = try sharedBook()
    same.pages = 7
    book.title = "Final"
    book.pages = 2
    try first.save()
    #expect(try second.fetch(FetchDescriptor<Book>()) == [same])
    #expect(same.title == "Final")
    #expect(same.pages == 7)
  }

  @Test(arguments: [false, true])
  func `do not delete each other's models, and say so`(isStored: Bool) throws {
    let book = Book(title: "theirs")
    second.insert(book)
    if isStored { try second.save() }
    first.delete(book)
    #expect(!book.isDeleted && !first.hasChanges)
    let error = try #require(#expect(throws: SwiftDataError.self) { try first.save() })
    #expect(error == .missingModelContext)
    #expect("\(error)".contains("registered in another context"))
    try first.save()
    try second.save()
    #expect(try first.fetchCount(FetchDescriptor<Book>()) == 1)
    second.delete(book)
    try second.save()
    // It is in no context any more.
    first.delete(book)
    try first.save()
  }

  @Test func `take over saves, and tell observers`() throws {
    second.automaticallyMergesChanges = true
    let (book, same) = try sharedBook()
    final class Box: @unchecked Sendable { var changes = 0 }
    let box = Box()
    withObservationTracking {
      _ = same.title
    } onChange: {
      box.changes += 1
    }
    book.title = "Final"
    try first.save()
    #expect(same.title == "Draft")
    second.processPendingChanges()
    #expect(same.title == "Final")
    #expect(box.changes == 1)
  }

  @Test func `keep their own unsaved changes, and the last save of a property wins`() throws {
    second.automaticallyMergesChanges = true
    let (book, same) = try sharedBook()
    same.pages = 7
    book.title = "Final"
    book.pages = 2
    try first.save()
    second.processPendingChanges()
    #expect(same.title == "Final")
    #expect(same.pages == 7)
    try second.save()
    let found = try #require(try ModelContext(container).fetch(FetchDescriptor<Book>()).first)
    #expect(found.title == "Final")
    #expect(found.pages == 7)
  }

  @Test func `see that a model is gone, which keeps its last values`() throws {
    second.automaticallyMergesChanges = true
    let (book, same) = try sharedBook()
    first.delete(book)
    try first.save()
    second.processPendingChanges()
    #expect(same.isDeleted)
    #expect(same.modelContext == nil)
    #expect(same.title == "Draft")
    #expect(!second.hasChanges)
  }

  @Test func `see lists grow and shrink`() throws {
    second.automaticallyMergesChanges = true
    let author = Author(name: "Calvino")
    author.books = [Book(title: "1"), Book(title: "2")]
    first.insert(author)
    try first.save()
    let same = try #require(second.model(for: author.persistentModelID) as? Author)
    #expect(same.books.map(\.title) == ["1", "2"])
    author.books.append(Book(title: "3"))
    first.delete(author.books[0])
    try first.save()
    second.processPendingChanges()
    #expect(same.books.map(\.title) == ["2", "3"])
  }

  @Test @MainActor func `reach the main context at its next turn`() async throws {
    let main = container.mainContext
    #expect(main.automaticallyMergesChanges)
    let (book, _) = try sharedBook()
    let same = try #require(main.model(for: book.persistentModelID) as? Book)
    #expect(same.title == "Draft")
    book.title = "Final"
    try first.save()
    await Task { @MainActor in }.value
    #expect(same.title == "Final")
  }
}

import ModelRuntime
import Testing

@Suite struct `Lists in a store that keeps them with their owners` {
  let container: ModelContainer
  let first: ModelContext
  let second: ModelContext

  init() throws {
    container = try makeLibrary()
    first = ModelContext(container)
    second = ModelContext(container)
  }

  private func author(in context: ModelContext) throws -> Author {
    try #require(try context.fetch(FetchDescriptor<Author>()).first)
  }

  private func book(_ title: String, in context: ModelContext) throws -> Book {
    try #require(try context.fetch(FetchDescriptor<Book>()).first { $0.title == title })
  }

  private func reader(in context: ModelContext) throws -> Reader {
    try #require(try context.fetch(FetchDescriptor<Reader>()).first)
  }

  @Test func `keep what two contexts append`() throws {
    let calvino = Author(name: "Calvino")
    first.insert(calvino)
    calvino.books = [Book(title: "1")]
    try first.save()
    let same = try author(in: second)
    #expect(same.books.count == 1)
    calvino.books.append(Book(title: "2"))
    same.books.append(Book(title: "3"))
    try first.save()
    try second.save()
    let found = try author(in: ModelContext(container))
    #expect(found.books.map(\.title) == ["1", "2", "3"])
    #expect(found.books.allSatisfy { $0.author === found })
  }

  @Test func `of many to many keep what two contexts append`() throws {
    first.insert(Reader(name: "Ann"))
    first.insert(Book(title: "1"))
    first.insert(Book(title: "2"))
    try first.save()
    let (ann, same) = (try reader(in: first), try reader(in: second))
    try book("1", in: first).readers.append(ann)
    try book("2", in: second).readers.append(same)
    try first.save()
    try second.save()
    let third = ModelContext(container)
    #expect(try reader(in: third).borrowed.map(\.title) == ["1", "2"])
    #expect(try book("2", in: third).readers.count == 1)
  }

  @Test func `are as new as the last fetch`() throws {
    let calvino = Author(name: "Calvino")
    first.insert(calvino)
    try first.save()
    #expect(calvino.books.isEmpty)
    try author(in: second).books.append(Book(title: "1"))
    try second.save()
    let found = try first.fetch(FetchDescriptor<Book>())
    #expect(calvino.books == found)
    #expect(found.first?.author === calvino)
  }

  @Test func `follow the rules of a delete for what came before its save`() throws {
    first.insert(Author(name: "Calvino"))
    first.insert(Book(title: "parts"))
    first.insert(Book(title: "written"))
    try first.save()
    first.delete(try author(in: first))
    first.delete(try book("parts", in: first))
    try book("written", in: second).author = author(in: second)
    try book("parts", in: second).chapters.append(Chapter("one"))
    try second.save()
    try first.save()
    let third = ModelContext(container)
    #expect(try book("written", in: third).author == nil)
    #expect(try third.fetchCount(FetchDescriptor<Chapter>()) == 0)
    #expect(try third.fetchCount(FetchDescriptor<Author>()) == 0)
  }

  @Test func `are changed in place by one model at a time`() throws {
    let calvino = Author(name: "Calvino")
    first.insert(calvino)
    let books = (0..<41).map { Book(title: "\($0)") }
    calvino.books = books
    try first.save()
    // The array that was assigned is the test's too, so the first change does make a copy.
    calvino.books.removeLast()
    let place = calvino.books.withUnsafeBufferPointer { $0.baseAddress }
    calvino.books.removeLast()
    calvino.books.insert(calvino.books.remove(at: 3), at: 0)
    #expect(calvino.books.withUnsafeBufferPointer { $0.baseAddress } == place)
    let expected = [books[3]] + books[0..<3] + books[4..<39]
    #expect(calvino.books == Array(expected))
    #expect(books[39].author == nil)
    #expect(calvino.books.allSatisfy { $0.author === calvino })
    try first.save()
    let found = try author(in: ModelContext(container))
    #expect(found.books.map(\.title) == expected.map(\.title))
  }
}

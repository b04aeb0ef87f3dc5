import Foundation
import ModelRuntime
import Testing

@Suite struct `Both ends of a relationship` {
  @Test func `agree at once when the to-one is set`() {
    let author = Author(name: "Calvino")
    let book = Book(title: "Cosmicomics")
    book.author = author
    #expect(author.books == [book])
    let other = Author(name: "Eco")
    book.author = other
    #expect(author.books.isEmpty)
    #expect(other.books == [book])
    book.author = nil
    #expect(other.books.isEmpty)
  }

  @Test func `agree at once when the list is set or appended to`() {
    let author = Author(name: "Calvino")
    let first = Book(title: "1")
    let second = Book(title: "2")
    author.books = [first, second]
    #expect(first.author === author)
    author.books.removeFirst()
    #expect(first.author == nil)
    author.books.append(first)
    #expect(first.author === author)
    #expect(author.books == [second, first])
  }

  @Test func `agree when many meet many`() {
    let book = Book(title: "Borrowed")
    let ann = Reader(name: "Ann")
    let bob = Reader(name: "Bob")
    book.readers = [ann, bob]
    #expect(ann.borrowed == [book])
    bob.borrowed = []
    #expect(book.readers == [ann])
  }

  @Test func `hold a model once, however often it is added`() {
    let author = Author(name: "Calvino")
    let book = Book(title: "Once", author: author)
    author.books = [book, book]
    #expect(author.books == [book])
  }
}

@Model private final class Cabinet {
  var parent: Cabinet?
  @Relationship(inverse: \Cabinet.parent) var children: [Cabinet]?
  @Relationship(inverse: \Marker.cabinets) var markers: [Marker]? = nil

  init(markers: [Marker]? = nil) { self.markers = markers }
}

@Model private final class Marker {
  var cabinets: [Cabinet]? = []

  init() {}
}

@Suite struct `An optional list` {
  @Test func `is nil until the model is related or in a context`() throws {
    let cabinet = Cabinet()
    #expect(cabinet.children == nil && cabinet.markers == nil)
    #expect(Cabinet(markers: []).markers == [])
    let marker = Marker()
    #expect(marker.cabinets == [])
    marker.cabinets = nil
    #expect(marker.cabinets == nil)
    let child = Cabinet()
    child.parent = cabinet
    #expect(cabinet.children == [child])
    #expect(cabinet.markers == nil)
    let container = try ModelContainer(
      for: Schema([Cabinet.self, Marker.self]),
      configurations: [MemoryStore.Configuration()]
    )
    let context = ModelContext(container)
    context.insert(cabinet)
    context.insert(marker)
    #expect(cabinet.markers == [] && child.children == [] && marker.cabinets == [])
    try context.save()
    #expect(cabinet.markers == [] && child.children == [] && marker.cabinets == [])
    context.delete(child)
    try context.save()
    #expect(child.children == [] && cabinet.children == [])
  }

  @Test func `gains related models before its first read`() {
    let (cabinet, child) = (Cabinet(), Cabinet())
    child.parent = cabinet
    #expect(cabinet.children == [child])
    #expect(cabinet.markers == nil && child.children == nil)
  }

  @Test(arguments: [true, false])
  func `that is nil can be given models, in place or as a whole`(inPlace: Bool) {
    let cabinet = Cabinet()
    let marker = Marker()
    if inPlace { cabinet.markers?.append(marker) } else { cabinet.markers = [marker] }
    #expect(cabinet.markers == [marker])
    #expect(marker.cabinets == [cabinet])
    marker.cabinets = nil
    #expect(marker.cabinets == nil && cabinet.markers == [])
  }
}

@Suite struct `Relationships in a store` {
  let container: ModelContainer

  init() throws { container = try makeLibrary() }

  @Test func `are saved with the whole graph by inserting one model`() throws {
    let context = ModelContext(container)
    let author = Author(name: "Calvino")
    author.books = [Book(title: "1"), Book(title: "2"), Book(title: "3")]
    author.books[1].chapters = [Chapter("one"), Chapter("two")]
    context.insert(author)
    #expect(context.insertedModelsArray.count == 6)
    try context.save()

    let other = ModelContext(container)
    let found = try #require(try other.fetch(FetchDescriptor<Author>()).first)
    #expect(found.books.map(\.title) == ["1", "2", "3"])
    #expect(found.books[1].chapters.map(\.heading) == ["one", "two"])
    #expect(found.books[1].author === found)
  }

  @Test func `insert a new model that is linked to one in a context`() throws {
    let context = ModelContext(container)
    let author = Author(name: "Calvino")
    context.insert(author)
    let book = Book(title: "Linked")
    author.books.append(book)
    #expect(book.modelContext === context)
    try context.save()
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Book>()) == 1)
  }

  @Test func `keep their order over a save and another opening`() throws {
    let context = ModelContext(container)
    let author = Author(name: "Calvino")
    context.insert(author)
    author.books = ["c", "a", "b"].map { Book(title: $0) }
    try context.save()
    author.books.append(Book(title: "d"))
    try context.save()
    #expect(author.books.map(\.title) == ["c", "a", "b", "d"])
    author.books = author.books.sorted { $0.title < $1.title }
    try context.save()
    let found = try #require(try ModelContext(container).fetch(FetchDescriptor<Author>()).first)
    #expect(found.books.map(\.title) == ["a", "b", "c", "d"])
  }

  @Test func `can be followed as long as a model is held, even if nothing else holds the context`()
    throws
  {
    let context = ModelContext(container)
    let author = Author(name: "Calvino")
    author.books = [Book(title: "1")]
    context.insert(author)
    try context.save()
    weak var made: ModelContext?
    func fetch() throws -> Author? {
      let other = ModelContext(container)
      made = other
      return try other.fetch(FetchDescriptor<Author>()).first
    }
    var found = try fetch()
    #expect(found?.books.map(\.title) == ["1"])
    #expect(found?.books.first?.author === found)
    #expect(made != nil)
    found = nil
    #expect(made == nil)
  }

  @Test func `follow a member to its new owner`() throws {
    let context = ModelContext(container)
    let first = Author(name: "First")
    let second = Author(name: "Second")
    context.insert(first)
    context.insert(second)
    first.books = [Book(title: "1"), Book(title: "2")]
    try context.save()
    first.books[0].author = second
    #expect(first.books.map(\.title) == ["2"])
    #expect(second.books.map(\.title) == ["1"])
    try context.save()
    #expect(first.books.map(\.title) == ["2"])
    #expect(second.books.map(\.title) == ["1"])
  }
}

@Suite struct `Deleting a model` {
  let context: ModelContext
  let author = Author(name: "Calvino")
  let book = Book(title: "1")

  init() throws {
    context = ModelContext(try makeLibrary())
    author.books = [book, Book(title: "2")]
    book.chapters = [Chapter("one"), Chapter("two")]
    context.insert(author)
    try context.save()
  }

  @Test func `takes its parts with it when the rule is cascade`() throws {
    context.delete(book)
    #expect(author.books.map(\.title) == ["2"])
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Chapter>()) == 0)
    #expect(try context.fetchCount(FetchDescriptor<Book>()) == 1)
    #expect(author.books.map(\.title) == ["2"])
  }

  @Test func `leaves the others without it when the rule is nullify`() throws {
    context.delete(author)
    #expect(book.author == nil)
    try context.save()
    let books = try ModelContext(context.container).fetch(FetchDescriptor<Book>())
    #expect(books.count == 2)
    #expect(books.allSatisfy { $0.author == nil })
  }

  @Test func `of a class deletes all that match`() throws {
    try context.delete(model: Book.self, where: #Predicate { $0.title == "1" })
    try context.save()
    #expect(try context.fetch(FetchDescriptor<Book>()).map(\.title) == ["2"])
  }
}

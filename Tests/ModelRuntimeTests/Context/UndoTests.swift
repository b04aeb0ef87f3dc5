import Foundation
import ModelRuntime
import Testing

@Suite struct `Undo in a context` {
  let container: ModelContainer
  let context: ModelContext
  let undo = UndoManager()

  init() throws {
    container = try makeLibrary()
    context = ModelContext(container)
    undo.groupsByEvent = false
  }

  /// Makes changes that are undone together.
  private func together(_ changes: () -> Void) {
    undo.beginUndoGrouping()
    changes()
    undo.endUndoGrouping()
  }

  private func savedBook() throws -> Book {
    let book = Book(title: "Draft", pages: 1)
    context.insert(book)
    try context.save()
    context.undoManager = undo
    return book
  }

  @Test func `is off until there is an undo manager`() {
    #expect(context.undoManager == nil)
    context.undoManager = undo
    #expect(context.undoManager === undo)
  }

  @Test func `takes properties back, and sets them again`() throws {
    let book = try savedBook()
    together {
      book.title = "Final"
      book.pages += 1
      book.tags.append("read")
    }
    undo.undo()
    #expect(book.title == "Draft")
    #expect(book.pages == 1)
    #expect(book.tags.isEmpty)
    #expect(!context.hasChanges)
    undo.redo()
    #expect(book.title == "Final")
    #expect(book.pages == 2)
    #expect(book.tags == ["read"])
    #expect(book.hasChanges)
  }

  @Test func `takes back what was saved meanwhile as a change`() throws {
    let book = try savedBook()
    together { book.title = "Final" }
    try context.save()
    undo.undo()
    #expect(book.hasChanges)
    try context.save()
    #expect(try ModelContext(container).fetch(FetchDescriptor<Book>()).map(\.title) == ["Draft"])
  }

  @Test func `takes insertions back, and inserts again`() throws {
    context.undoManager = undo
    let book = Book(title: "New")
    together { context.insert(book) }
    undo.undo()
    #expect(!context.hasChanges)
    #expect(book.modelContext == nil)
    #expect(book.title == "New")
    undo.redo()
    #expect(context.insertedModelsArray.count == 1)
    try context.save()
    undo.undo()
    #expect(book.isDeleted)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Book>()) == 0)
  }

  @Test func `brings a deleted model back with its relationships`() throws {
    let author = Author(name: "Calvino")
    author.books = ["1", "2", "3"].map { Book(title: $0) }
    author.books[1].chapters = [Chapter("one"), Chapter("two")]
    context.insert(author)
    try context.save()
    context.undoManager = undo
    let book = author.books[1]
    together { context.delete(book) }
    #expect(author.books.map(\.title) == ["1", "3"])
    #expect(context.deletedModelsArray.count == 3)
    undo.undo()
    #expect(!book.isDeleted)
    #expect(author.books.map(\.title) == ["1", "2", "3"])
    #expect(book.chapters.map(\.heading) == ["one", "two"])
    #expect(!context.hasChanges)
    undo.redo()
    #expect(book.isDeleted)
    #expect(context.deletedModelsArray.count == 3)
  }

  @Test func `brings a model back whose delete was saved, as a new row`() throws {
    let book = try savedBook()
    book.author = Author(name: "Calvino")
    try context.save()
    let old = book.persistentModelID
    together { context.delete(book) }
    try context.save()
    undo.undo()
    try context.save()
    #expect(!book.isDeleted)
    #expect(book.persistentModelID != old)
    let found = try #require(try ModelContext(container).fetch(FetchDescriptor<Book>()).first)
    #expect(found.title == "Draft")
    #expect(found.author?.name == "Calvino")
  }

  @Test func `puts both ends of a relationship back, in their order`() throws {
    let author = Author(name: "Calvino")
    let other = Author(name: "Eco")
    author.books = ["1", "2", "3"].map { Book(title: $0) }
    context.insert(author)
    context.insert(other)
    try context.save()
    context.undoManager = undo
    let first = author.books[0]
    together { first.author = other }
    together { other.books.append(author.books[1]) }
    together { author.books = [] }
    undo.undo()
    #expect(author.books.map(\.title) == ["2"])
    undo.undo()
    #expect(author.books.map(\.title) == ["2", "3"])
    #expect(other.books == [first])
    undo.undo()
    #expect(author.books.map(\.title) == ["1", "2", "3"])
    #expect(other.books.isEmpty)
    #expect(first.author === author)
    #expect(!context.hasChanges)
    undo.redo()
    #expect(first.author === other)
  }

  @Test func `ends the group of an event when changes are processed or saved`() throws {
    let book = try savedBook()
    undo.groupsByEvent = true
    book.title = "2"
    context.processPendingChanges()
    book.title = "3"
    try context.save()
    book.title = "4"
    undo.undo()
    #expect(book.title == "3")
    undo.undo()
    #expect(book.title == "2")
    undo.undo()
    #expect(book.title == "Draft")
  }

  @Test func `is emptied by rolling back`() throws {
    let book = try savedBook()
    together { book.title = "Final" }
    context.rollback()
    #expect(!undo.canUndo)
    #expect(book.title == "Draft")
  }

  @Test func `is left alone while its registration is switched off`() throws {
    let book = try savedBook()
    undo.disableUndoRegistration()
    book.title = "Final"
    undo.enableUndoRegistration()
    #expect(!undo.canUndo)
  }

  @Test func `keeps neither the context nor its models for ever`() throws {
    weak var context: ModelContext?
    weak var model: Book?
    do {
      let own = ModelContext(container)
      own.undoManager = UndoManager()
      let book = Book(title: "Draft")
      own.insert(book)
      book.title = "Final"
      try own.save()
      context = own
      model = book
    }
    #expect(context == nil)
    #expect(model == nil)
  }

  /// Everything at once: whatever was done, undoing leads back through the same states.
  @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
  func `leads back through every state, and forward again`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let authors = (0..<3).map { Author(name: "\($0)") }
    let readers = (0..<2).map { Reader(name: "\($0)") }
    var books = (0..<6).map { Book(title: "\($0)") }
    for model in authors { context.insert(model) }
    for model in readers { context.insert(model) }
    for book in books { context.insert(book) }
    try context.save()
    context.undoManager = undo

    func picture() -> [String] {
      books.map { book in
        guard book.modelContext != nil, !book.isDeleted else { return "\(book.title) gone" }
        return "\(book.title) \(book.pages) \(book.author?.name ?? "-") \(book.readers.map(\.name))"
      } + authors.map { "\($0.name) \($0.books.map(\.title))" }
        + readers.map { "\($0.name) \($0.borrowed.map(\.title))" }
    }
    for number in 0..<30 where number % 3 == 0 { books.append(Book(title: "new \(number)")) }
    var pictures = [picture()]
    for step in 0..<30 {
      together {
        readers[0].name += "."
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          let book = random.pick(books)
          // Only what is in the context is undone.
          guard book.modelContext != nil, !book.isDeleted else {
            if !book.isDeleted { context.insert(book) }
            continue
          }
          switch Int.random(in: 0..<7, using: &random) {
          case 0: book.pages += 1
          case 1: book.author = random.pick(authors)
          case 2: book.author = nil
          case 3: random.pick(authors).books.append(book)
          case 4: random.pick(authors).books.reverse()
          case 5: random.pick(readers).borrowed.append(book)
          default: context.delete(book)
          }
        }
      }
      pictures.append(picture())
      if step == 15 { try context.save() }
    }
    for position in (0..<30).reversed() {
      undo.undo()
      let wrong = zip(picture(), pictures[position]).filter { $0 != $1 }.map { "\($0), not \($1)" }
      #expect(wrong == [], "seed \(seed), back at \(position)")
    }
    #expect(!undo.canUndo)
    for position in 1...30 where undo.canRedo {
      undo.redo()
      let wrong = zip(picture(), pictures[position]).filter { $0 != $1 }.map { "\($0), not \($1)" }
      #expect(wrong == [], "seed \(seed), forward at \(position)")
    }
  }

  /// Undone in turn, the delete and the insertion leave a model that no row has ever been of, and that nothing refers to.
  @Test(arguments: [false, true]) func `lets go of models whose insertion is undone`(isSaved: Bool)
    throws
  {
    weak var reader: Reader?
    weak var book: Book?
    try {
      let context = ModelContext(container)
      context.undoManager = undo
      let (newReader, newBook) = (Reader(name: "Ada"), Book(title: "Draft"))
      (reader, book) = (newReader, newBook)
      together {
        context.insert(newReader)
        context.insert(newBook)
        newReader.borrowed = [newBook]
      }
      together {
        context.delete(newReader)
        context.delete(newBook)
      }
      try context.save()
      undo.undo()
      undo.undo()
      if isSaved { try context.save() }
      undo.removeAllActions()
    }()
    #expect(reader == nil)
    #expect(book == nil)
  }
}

import Foundation
@testable import ModelRuntime
import Testing

@Suite struct `Saving a context` {
  let container: ModelContainer
  let context: ModelContext

  init() throws {
    container = try makeLibrary()
    context = ModelContext(container)
  }

  @Test func `gives an inserted model a permanent identifier, and another context its values`()
    throws
  {
    let book = Book(title: "Invisible Cities", pages: 165)
    book.rating = 4.5
    book.genre = .travel
    book.tags = ["cities", "memory"]
    book.isbn = UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
    #expect(book.persistentModelID.isTemporary)
    context.insert(book)
    #expect(context.hasChanges)
    try context.save()
    #expect(!context.hasChanges)
    #expect(!book.persistentModelID.isTemporary)

    let other = ModelContext(container)
    let found = try other.fetch(FetchDescriptor<Book>())
    #expect(found.count == 1)
    let same = try #require(found.first)
    #expect(same.persistentModelID == book.persistentModelID)
    #expect(same.title == "Invisible Cities")
    #expect(same.pages == 165)
    #expect(same.rating == 4.5)
    #expect(same.genre == .travel)
    #expect(same.tags == ["cities", "memory"])
    #expect(same.isbn == UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"))
    #expect(same.author == nil)
  }

  @Test func `writes an update, which a later fetch elsewhere sees`() throws {
    let book = Book(title: "Draft")
    context.insert(book)
    try context.save()
    book.title = "Final"
    #expect(book.hasChanges)
    #expect(context.changedModelsArray.count == 1)
    try context.save()
    #expect(!book.hasChanges)
    let titles = try ModelContext(container).fetch(FetchDescriptor<Book>()).map(\.title)
    #expect(titles == ["Final"])
  }

  @Test func `removes a deleted model, which keeps its last values`() throws {
    let book = Book(title: "Gone")
    context.insert(book)
    try context.save()
    context.delete(book)
    #expect(book.isDeleted)
    #expect(book.modelContext === context)
    try context.save()
    #expect(book.isDeleted)
    #expect(book.modelContext == nil)
    #expect(book.title == "Gone")
    #expect(try context.fetchCount(FetchDescriptor<Book>()) == 0)
  }

  @Test func `keeps all changes when the store refuses`() throws {
    let context = ModelContext(try makeLibrary(refusesToSave: true))
    context.insert(Book(title: "Unsaved"))
    #expect(throws: MemoryStore.Refusal.self) { try context.save() }
    #expect(context.hasChanges)
    #expect(context.insertedModelsArray.count == 1)
  }

  @Test func `tells what was saved`() throws {
    final class Box: @unchecked Sendable { var inserted: [PersistentIdentifier]? }
    let box = Box()
    let token = NotificationCenter.default.addObserver(
      forName: ModelContext.didSave,
      object: context,
      queue: nil
    ) { note in
      box.inserted =
        note.userInfo?[ModelContext.NotificationKey.insertedIdentifiers] as? [PersistentIdentifier]
    }
    defer { NotificationCenter.default.removeObserver(token) }
    let book = Book(title: "News")
    context.insert(book)
    try context.save()
    #expect(box.inserted == [book.persistentModelID])
  }

  @Test func `posts a notification from the first time its name is asked for`() {
    let notification = SaveNotifications.Observable("once")
    #expect(notification.observedName == nil)
    #expect(notification.nameToObserve == Notification.Name("once"))
    #expect(notification.observedName == Notification.Name("once"))
  }

  @Test func `without changes does nothing`() throws {
    try context.save()
    #expect(!context.hasChanges)
  }
}

@Suite struct `Rolling back` {
  @Test func `forgets inserts, puts back changes and keeps what was deleted`() throws {
    let context = ModelContext(try makeLibrary())
    let kept = Book(title: "Kept")
    let changed = Book(title: "Before")
    context.insert(kept)
    context.insert(changed)
    try context.save()

    let new = Book(title: "New")
    context.insert(new)
    changed.title = "After"
    context.delete(kept)
    context.rollback()
    #expect(!context.hasChanges)
    #expect(new.modelContext == nil)
    #expect(new.title == "New")
    #expect(changed.title == "Before")
    #expect(!kept.isDeleted)
    #expect(try context.fetchCount(FetchDescriptor<Book>()) == 2)
  }
}

@Suite struct `Looking models up` {
  let context: ModelContext
  let book = Book(title: "Here")

  init() throws {
    context = ModelContext(try makeLibrary())
    context.insert(book)
    try context.save()
  }

  @Test func `gives the one object a context has for a row`() throws {
    #expect(try context.fetch(FetchDescriptor<Book>()).first === book)
    #expect(context.model(for: book.persistentModelID) === book)
    let registered: Book? = context.registeredModel(for: book.persistentModelID)
    #expect(registered === book)
  }

  @Test func `does not ask the store for a registered model`() throws {
    let other = ModelContext(context.container)
    let none: Book? = other.registeredModel(for: book.persistentModelID)
    #expect(none == nil)
    let found = try #require(other.model(for: book.persistentModelID) as? Book)
    #expect(found.title == "Here")
    let registered: Book? = other.registeredModel(for: book.persistentModelID)
    #expect(registered === found)
  }

  @Test func `answers an identifier of nothing with a model that says it is deleted`() throws {
    let identifier = try PersistentIdentifier.identifier(
      for: "memory",
      entityName: "Book",
      primaryKey: 4711
    )
    let model = try #require(context.model(for: identifier) as? Book)
    #expect(model.title == "")
    let foreign = try PersistentIdentifier.identifier(
      for: "elsewhere",
      entityName: "Book",
      primaryKey: 1
    )
    #expect(context.model(for: foreign).isDeleted)
  }
}

@Suite struct `Fetching with unsaved changes` {
  let context: ModelContext

  init() throws {
    context = ModelContext(try makeLibrary())
    for (title, pages) in [("A", 10), ("B", 20), ("C", 30)] {
      context.insert(Book(title: title, pages: pages))
    }
    try context.save()
  }

  @Test func `sees them as if they were saved`() throws {
    let books = try context.fetch(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.title)]))
    books[0].pages = 100
    context.delete(books[1])
    context.insert(Book(title: "D", pages: 40))
    let big = FetchDescriptor<Book>(
      predicate: #Predicate { $0.pages > 15 },
      sortBy: [SortDescriptor(\.pages)]
    )
    #expect(try context.fetch(big).map(\.title) == ["C", "D", "A"])
    #expect(try context.fetchCount(big) == 3)
    var page = big
    page.fetchOffset = 1
    page.fetchLimit = 1
    #expect(try context.fetch(page).map(\.title) == ["D"])
  }

  @Test func `can be asked not to`() throws {
    context.insert(Book(title: "D", pages: 40))
    var descriptor = FetchDescriptor<Book>(sortBy: [SortDescriptor(\.title)])
    descriptor.includePendingChanges = false
    #expect(try context.fetch(descriptor).map(\.title) == ["A", "B", "C"])
  }

  @Test func `walks all of them in batches`() throws {
    var titles: [String] = []
    try context.enumerate(
      FetchDescriptor<Book>(sortBy: [SortDescriptor(\.title, order: .reverse)]),
      batchSize: 2
    ) { titles.append($0.title) }
    #expect(titles == ["C", "B", "A"])
    #expect(throws: SwiftDataError.self) {
      try context.enumerate(FetchDescriptor<Book>()) { $0.pages += 1 }
    }
  }
}

@Suite struct `Fetching in batches` {
  @Test(arguments: [1, 3, 10, 100])
  func `finds the same models in the same order`(batchSize: Int) throws {
    let context = ModelContext(try makeLibrary())
    for pages in 1...10 { context.insert(Book(title: "\(pages)", pages: pages)) }
    try context.save()
    let other = ModelContext(context.container)
    other.insert(Book(title: "unsaved", pages: 0))
    let descriptor = FetchDescriptor<Book>(sortBy: [SortDescriptor(\.pages, order: .reverse)])
    let books = try other.fetch(descriptor, batchSize: batchSize)
    #expect(books.count == 11)
    #expect(books.map(\.pages) == Array((0...10).reversed()))
    #expect(books[10].title == "unsaved")
    #expect(books[0].pages == 10)
    let identifiers = try other.fetchIdentifiers(descriptor, batchSize: batchSize)
    #expect(Array(identifiers) == books.map(\.persistentModelID))
  }
}

@Suite struct `A transaction` {
  let container: ModelContainer
  let context: ModelContext

  init() throws {
    container = try makeLibrary()
    context = ModelContext(container)
  }

  @Test func `saves once, at its end, also when it holds others`() throws {
    final class Box: @unchecked Sendable { var saves = 0 }
    let box = Box()
    let observer = NotificationCenter.default.addObserver(
      forName: ModelContext.didSave,
      object: context,
      queue: nil
    ) { _ in box.saves += 1 }
    defer { NotificationCenter.default.removeObserver(observer) }
    try context.transaction {
      context.insert(Book(title: "1"))
      try context.transaction { context.insert(Book(title: "2")) }
      #expect(box.saves == 0)
      #expect(context.hasChanges)
    }
    #expect(box.saves == 1)
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Book>()) == 2)
  }

  @Test func `leaves its changes pending when its block throws`() throws {
    struct Interruption: Error {}
    #expect(throws: Interruption.self) {
      try context.transaction {
        context.insert(Book(title: "1"))
        throw Interruption()
      }
    }
    #expect(context.insertedModelsArray.count == 1)
    try context.transaction {}
    #expect(!context.hasChanges)
  }
}

@Suite struct `Enumerating models` {
  let container: ModelContainer
  let context: ModelContext

  init() throws {
    container = try makeLibrary()
    context = ModelContext(container)
    for number in 0..<25 { context.insert(Book(title: "\(number)", pages: number)) }
    try context.save()
  }

  @Test(arguments: [1, 7, 25, 5000])
  func `goes through all of them in order, batch by batch`(batchSize: Int) throws {
    var pages: [Int] = []
    let descriptor = FetchDescriptor<Book>(sortBy: [SortDescriptor(\.pages, order: .reverse)])
    try context.enumerate(descriptor, batchSize: batchSize) { pages.append($0.pages) }
    #expect(pages == (0..<25).reversed())
  }

  @Test func `lets go of what it has gone through`() throws {
    let other = ModelContext(container)
    weak var first: Book?
    var isFirstGone = false
    try other.enumerate(FetchDescriptor<Book>(), batchSize: 5) { book in
      if first == nil, book.pages == 0 { first = book }
      if book.pages == 20 { isFirstGone = first == nil }
    }
    #expect(isFirstGone)
  }

  @Test func `refuses unsaved changes unless they are allowed`() throws {
    #expect(throws: SwiftDataError.self) {
      try context.enumerate(FetchDescriptor<Book>(), batchSize: 5) { $0.pages += 1 }
    }
    context.rollback()
    try context.enumerate(
      FetchDescriptor<Book>(),
      batchSize: 5,
      allowEscapingMutations: true
    ) { $0.pages += 1 }
    #expect(context.changedModelsArray.count == 25)
  }

  @Test func `may save as it goes`() throws {
    try context.enumerate(FetchDescriptor<Book>(), batchSize: 5) { book in
      book.pages += 1
      try context.save()
    }
    let pages = try ModelContext(container).fetch(FetchDescriptor<Book>()).map(\.pages)
    let sum = pages.reduce(0, +)
    #expect(sum == 325)
  }
}

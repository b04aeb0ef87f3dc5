import Foundation
import ModelRuntime
import Testing

@Suite struct `A context that saves by itself` {
  @Test @MainActor func `is the main one, which saves at the next turn`() async throws {
    let container = try makeLibrary()
    let context = container.mainContext
    #expect(context.autosaveEnabled)
    context.insert(Book(title: "Saved"))
    #expect(context.hasChanges)
    // Turns of the main actor run in order: this one comes after the save.
    await Task { @MainActor in }.value
    #expect(!context.hasChanges)
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Book>()) == 1)
  }

  @Test func `saves when its changes are processed, if it is not the main one`() throws {
    let context = ModelContext(try makeLibrary())
    #expect(!context.autosaveEnabled)
    context.insert(Book(title: "Pending"))
    context.processPendingChanges()
    #expect(context.hasChanges)
    context.autosaveEnabled = true
    context.processPendingChanges()
    #expect(!context.hasChanges)
  }

  @Test func `says what went wrong and keeps the changes`() throws {
    final class Box: @unchecked Sendable { var error: (any Error)? }
    let box = Box()
    let context = ModelContext(try makeLibrary(refusesToSave: true))
    context.autosaveEnabled = true
    context.autosaveErrorHandler = { box.error = $0 }
    context.insert(Book(title: "Refused"))
    context.processPendingChanges()
    #expect(box.error is MemoryStore.Refusal)
    #expect(context.hasChanges)
  }
}

/// Changes of a model whose changes could not be saved before, or of what belongs to it.
enum Correction: String, CaseIterable {
  case attribute, sameAttribute, inPlace, toOne, list, insertion, deletionOfStored, deletionOfNew
}

@MainActor
@Suite struct `A main context whose save has failed` {
  let archive: MemoryStore.Archive
  let container: ModelContainer
  let context: ModelContext
  /// A book and an author of the store, and a book that is new.
  let book = Book(title: "stored")
  let author = Author(name: "stored")
  let new = Book(title: "new")

  init() async throws {
    let configuration = MemoryStore.Configuration()
    archive = configuration.archive
    container = try ModelContainer(
      for: Schema([Author.self, Book.self, Chapter.self, Reader.self]),
      configurations: [configuration]
    )
    context = container.mainContext
    context.insert(book)
    context.insert(author)
    try context.save()
    await turns()
    archive.refusesToSave = true
  }

  /// Lets the main actor do what it was given before.
  private func turns(_ count: Int = 3) async {
    for _ in 0..<count { await Task { @MainActor in }.value }
  }

  private func makeChangesThatFail(_ saves: () throws -> Void = {}) async {
    book.title = "changed"
    book.author = author
    context.insert(new)
    await turns()
    try? saves()
    #expect(context.hasChanges)
  }

  private func make(_ correction: Correction) {
    switch correction {
    case .attribute: book.pages = 10
    case .sameAttribute: new.title = "again"
    case .inPlace: book.tags.append("tag")
    case .toOne: book.author = nil
    case .list: author.books.append(new)
    case .insertion: context.insert(Book(title: "more"))
    case .deletionOfStored: context.delete(book)
    case .deletionOfNew: context.delete(new)
    }
  }

  @Test(arguments: Correction.allCases, [false, true])
  func `tries again at the next change`(correction: Correction, isExplicit: Bool) async throws {
    await makeChangesThatFail { if isExplicit { try context.save() } }
    archive.refusesToSave = false
    await turns()
    #expect(context.hasChanges)
    make(correction)
    await turns()
    #expect(!context.hasChanges)
    let titles = try ModelContext(container).fetch(FetchDescriptor<Book>()).map(\.title)
    #expect(titles.contains("changed") == (correction != .deletionOfStored))
    #expect(titles.contains("new") == ![.sameAttribute, .deletionOfNew].contains(correction))
  }

  @Test(arguments: Correction.allCases)
  func `tries once for each change`(correction: Correction) async {
    await makeChangesThatFail()
    let count = archive.saveCount
    make(correction)
    await turns(5)
    #expect(archive.saveCount == count + 1)
  }

  @Test(arguments: [Correction.insertion, .toOne, .list, .deletionOfStored])
  func `tries again when an undo takes back what was refused`(refused: Correction) async throws {
    let undo = UndoManager()
    undo.groupsByEvent = false
    context.undoManager = undo
    for change in [Correction.sameAttribute, .attribute, refused] {
      undo.beginUndoGrouping()
      if change == .sameAttribute { author.name = "changed" } else { make(change) }
      undo.endUndoGrouping()
    }
    await turns()
    archive.refusesToSave = false
    await turns()
    #expect(context.hasChanges)
    undo.undo()
    await turns()
    #expect(!context.hasChanges)
    let authors = try ModelContext(container).fetch(FetchDescriptor<Author>())
    #expect(authors.map(\.name) == ["changed"])
    #expect(try ModelContext(container).fetch(FetchDescriptor<Book>()).map(\.pages) == [10])
  }

  @Test func `does not go on trying what a save changes itself`() async {
    nonisolated(unsafe) let book = book
    let observer = NotificationCenter.default.addObserver(
      forName: ModelContext.willSave,
      object: context,
      queue: nil
    ) { _ in book.pages += 1 }
    defer { NotificationCenter.default.removeObserver(observer) }
    await makeChangesThatFail()
    let count = archive.saveCount
    await turns(5)
    #expect(archive.saveCount == count)
    archive.refusesToSave = false
    new.pages = 1
    await turns()
    #expect(!context.hasChanges)
  }

  @Test(arguments: [false, true])
  func `lets the container's closing throw its error once, if no handler was told`(
    isDue: Bool
  ) async throws {
    if isDue {
      context.insert(new)
    } else {
      await makeChangesThatFail()
    }
    await #expect(throws: MemoryStore.Refusal.self) { try await container.close() }
    #expect(throws: SwiftDataError.storeClosed) {
      try ModelContext(container).fetchCount(FetchDescriptor<Book>())
    }
    let count = archive.saveCount
    try await container.close()
    #expect(archive.saveCount == count)
  }

  @Test func `is saved by the closing of its container, if that is possible by then`() async throws
  {
    await makeChangesThatFail()
    archive.refusesToSave = false
    let count = archive.saveCount
    try await container.close()
    #expect(archive.saveCount == count + 1 && !context.hasChanges)
  }

  @Test(arguments: [false, true])
  func `leaves the closing of its container silent, if the error was heard`(
    isExplicit: Bool
  ) async throws {
    final class Box: @unchecked Sendable { var count = 0 }
    let box = Box()
    if !isExplicit { context.autosaveErrorHandler = { _ in box.count += 1 } }
    await makeChangesThatFail { if isExplicit { try context.save() } }
    try await container.close()
    #expect(box.count == (isExplicit ? 0 : 1))
  }

  @Test func `leaves the closing of its container silent, if it was rolled back`() async throws {
    await makeChangesThatFail()
    context.rollback()
    try await container.close()
  }

  @Test func `forgets that when it is rolled back`() async {
    await makeChangesThatFail()
    context.rollback()
    let count = archive.saveCount
    _ = book.title
    await turns()
    #expect(archive.saveCount == count && !context.hasChanges)
  }
}

@MainActor
@Suite struct `A main context in which two models met in a unique value` {
  @Test func `saves by itself once one of them is changed`() async throws {
    let container = try ModelContainer(
      for: Schema([Subscriber.self]),
      configurations: [MemoryStore.Configuration()]
    )
    let context = container.mainContext
    let first = Subscriber("a")
    let second = Subscriber("b")
    context.insert(first)
    context.insert(second)
    await Task { @MainActor in }.value
    second.email = "a"
    await Task { @MainActor in }.value
    #expect(context.hasChanges)
    second.email = "c"
    await Task { @MainActor in }.value
    #expect(!context.hasChanges)
    let emails = try ModelContext(container).fetch(FetchDescriptor<Subscriber>()).map(\.email)
    #expect(emails.sorted() == ["a", "c"])
  }
}

@Model private final class Subscriber {
  @Attribute(.unique) var email: String
  init(_ email: String) { self.email = email }
}

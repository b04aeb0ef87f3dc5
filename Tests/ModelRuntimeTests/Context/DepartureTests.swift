import Observation
import Testing

@testable import ModelRuntime

@Suite struct `A model that leaves its context` {
  enum Departure: CaseIterable {
    case savedDeletion, deletionElsewhere, rollback, unsavedDeletion, endOfContext
  }

  /// Has a new, or a saved, model leave its context.
  private func make(_ departure: Departure, in context: ModelContext, _ book: Book) throws {
    switch departure {
    case .savedDeletion:
      context.delete(book)
      try context.save()
    case .deletionElsewhere:
      let other = ModelContext(context.container)
      for book in try other.fetch(FetchDescriptor<Book>()) { other.delete(book) }
      try other.save()
      context.processPendingChanges()
    case .rollback: context.rollback()
    case .unsavedDeletion:
      context.delete(book)
      context.insert(Book(title: "Another"))
      try context.save()
    case .endOfContext: book.title = "Changed"
    }
  }

  @Test(arguments: Departure.allCases)
  func `is forgotten there, forgets the store, and keeps its identifier`(departure: Departure)
    throws
  {
    let book = Book(title: "Leaving")
    let identifier: PersistentIdentifier
    do {
      let context = ModelContext(try makeLibrary())
      context.automaticallyMergesChanges = true
      context.insert(book)
      switch departure {
      case .savedDeletion, .deletionElsewhere, .endOfContext: try context.save()
      case .rollback, .unsavedDeletion: break
      }
      identifier = book.persistentModelID
      withObservationTracking {
        _ = book.title
      } onChange: {
      }
      #expect(context.watchedStates.count == 1)
      try make(departure, in: context, book)
      if departure != .endOfContext {
        #expect(context.watchedStates.isEmpty)
        #expect(context.invariantViolations() == [])
      }
    }
    #expect(book.modelContext == nil)
    #expect(book._$state.connection == nil)
    #expect(book.persistentModelID == identifier)
  }

  @Test func `is watched by the context that it comes into next`() throws {
    let library = try makeLibrary()
    let (first, second) = (ModelContext(library), ModelContext(library))
    let book = Book(title: "Moving")
    first.insert(book)
    withObservationTracking {
      _ = book.title
    } onChange: {
    }
    first.rollback()
    second.insert(book)
    #expect(first.watchedStates.isEmpty)
    #expect(second.watchedStates.map(\.identifier) == [book.persistentModelID])
  }
}

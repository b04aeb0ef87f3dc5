import Foundation
import Testing

@testable import ModelRuntime

@MainActor
@Suite struct `A main context whose container is gone` {
  private let context: ModelContext

  init() throws { context = try makeLibrary().mainContext }

  private func titles() throws -> [String] {
    try ModelContext(context.container).fetch(FetchDescriptor<Book>()).map(\.title).sorted()
  }

  @Test func `is that of the container it has now, and of each of its contexts`() {
    #expect(context.container.mainContext === context)
    #expect(ModelContext(context.container).container.mainContext === context)
    #expect(context.container == context.container)
  }

  @Test func `inserts and deletes by way of its container`() throws {
    let book = Book(title: "old")
    context.insert(book)
    try context.save()
    context.container.mainContext.delete(book)
    context.container.mainContext.insert(Book(title: "new"))
    try context.save()
    #expect(try titles() == ["new"])
  }

  @Test func `keeps what was set`() {
    context.autosaveEnabled = false
    context.undoManager = UndoManager()
    let main = context.container.mainContext
    #expect(!main.autosaveEnabled)
    #expect(main.undoManager === context.undoManager)
  }
}

@MainActor
@Suite struct `A context that outlives its container` {
  @Test func `has another one, whose main context saves by itself`() async throws {
    let context = ModelContext(try makeLibrary())
    context.container.mainContext.insert(Book(title: "kept"))
    await Task { @MainActor in }.value
    #expect(try context.fetch(FetchDescriptor<Book>()).map(\.title) == ["kept"])
    #expect(context.container === context.container)
  }

  enum Holder: CaseIterable { case container, main, other }

  @Test(arguments: Holder.allCases)
  func `keeps no stores open when it goes, nor does the main context`(holder: Holder) throws {
    weak var coordinator: StoreCoordinator?
    weak var main: ModelContext?
    do {
      let container = try makeLibrary()
      coordinator = container.coordinator
      main = container.mainContext
      #expect(main != nil)
      switch holder {
      case .container: _ = container
      case .main: #expect(container.mainContext.container.mainContext === main)
      case .other: #expect(ModelContext(container).container.mainContext === main)
      }
    }
    #expect(main == nil && coordinator == nil)
    do {
      let context =
        holder == .main ? try makeLibrary().mainContext : ModelContext(try makeLibrary())
      coordinator = context.coordinator
      main = context.container.mainContext
    }
    #expect(main == nil && coordinator == nil)
  }
}

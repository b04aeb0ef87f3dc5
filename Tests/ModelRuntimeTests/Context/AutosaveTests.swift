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

import Foundation
import SwiftData
import Testing

@Suite struct `Models of a global actor` {
  @Test @MainActor func `work like any others`() throws {
    let store = try TestStore(.file, Notebook.self, NotebookPage.self, LedgerEntry.self)
    let container = store.container
    let model = NotebookViewModel(container: container)
    try model.create("Trips")
    try model.create("Books")
    #expect(model.notebooks.map(\.summary) == ["Books: 1 pages", "Trips: 1 pages"])
    model.notebooks[1].add("second")
    #expect(try model.pages(of: "Trips", containing: "s").map(\.text) == ["first", "second"])
    #expect(try model.pages(of: "Books", containing: "second").isEmpty)
    let other = ModelContext(container)
    let found = try other.fetch(FetchDescriptor<Notebook>()).first { $0.title == "Trips" }
    #expect(found?.slug == "trips")
    #expect(found?.pages.first?.notebook === found)
  }

  @Test @LedgerActor func `may belong to an actor of the app's`() throws {
    let entry = LedgerEntry(amount: 12)
    entry.note = "lunch"
    #expect(entry.amount == 12)
    #expect(LedgerEntry.schemaMetadata.map(\.name) == ["amount", "note"])
  }
}

import Foundation
import SwiftData
import Testing

@Suite struct `Models of a global actor` {
  @Test @MainActor func `models of a global actor are saved and fetched like any others`() throws {
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

  @Test @MainActor func `may be named by predicates that are made on the actor`() async throws {
    let store = try TestStore(.file, Notebook.self, NotebookPage.self, LedgerEntry.self)
    let container = store.container
    let model = NotebookViewModel(container: container)
    try model.create("Trips")
    try model.create("Books")
    model.notebooks[1].tags = ["far"]
    try container.mainContext.save()
    let predicate = try model.tagged("far", since: .distantPast)
    let descriptor = FetchDescriptor(predicate: predicate)
    #expect(try container.mainContext.fetch(descriptor).map(\.title) == ["Trips"])
    #expect(try container.mainContext.explain(descriptor).filteredBy == .store)
    #expect(try predicate.evaluate(model.notebooks[1]))
    let elsewhere = try await Task.detached { [predicate] in
      try ModelContext(container).fetchCount(FetchDescriptor(predicate: predicate))
    }.value
    #expect(elsewhere == 1)
    // A computed property is asked on the main actor.
    let wordy = FetchDescriptor(predicate: model.wordy())
    #expect(try container.mainContext.fetchCount(wordy) == 2)
  }

  @Test @MainActor func `may belong to an actor without saying so`() throws {
    let store = try TestStore(
      .file,
      DiaryEntry.self,
      Appointment.self,
      Voucher.self,
      GardenPlot.self
    )
    let context = store.container.mainContext
    let entry = DiaryEntry(updatedAt: Date(timeIntervalSinceReferenceDate: 7))
    entry.text = "a day"
    context.insert(entry)
    context.insert(Appointment())
    context.insert(GardenPlot(name: "north", size: 12))
    try context.save()
    let other = ModelContext(store.container)
    let found = try #require(try other.fetch(FetchDescriptor<DiaryEntry>()).first)
    #expect(found.updatedAt == Date(timeIntervalSinceReferenceDate: 7))
    #expect(found.text == "a day")
    #expect(try other.fetchCount(FetchDescriptor<Appointment>()) == 1)
    let plot = try #require(try other.fetch(FetchDescriptor<GardenPlot>()).first)
    #expect(plot.name == "north")
    #expect(plot.size == 12)
    #expect(Voucher.schemaMetadata.map(\.name) == ["amount"])
  }

  @Test @LedgerActor func `may belong to an actor of the app's`() throws {
    let entry = LedgerEntry(amount: 12)
    entry.note = "lunch"
    #expect(entry.amount == 12)
    #expect(LedgerEntry.schemaMetadata.map(\.name) == ["amount", "note"])
  }
}

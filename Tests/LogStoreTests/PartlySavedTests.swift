import Foundation
import LogStore
import SwiftData
import Synchronization
import Testing

// A save writes to each store on its own: what is in the first is there, whatever the second says.

@Suite struct `A save to two stores of which the second refuses` {
  let container: ModelContainer
  let context: ModelContext
  let show = Show("old")
  let flight = Flight("AB", 1, code: "x")

  init() throws {
    // Stores in memory that have one name are one store.
    let test = UUID().uuidString
    let shows = ModelConfiguration(
      "shows \(test)",
      schema: Schema([Show.self, Ticket.self]),
      isStoredInMemoryOnly: true
    )
    var flights = ModelConfiguration(
      "flights \(test)",
      schema: Schema([Flight.self]),
      isStoredInMemoryOnly: true
    )
    flights.uniquenessPolicy = .throw
    container = try ModelContainer(
      for: Schema([Show.self, Ticket.self, Flight.self]),
      configurations: shows,
      flights
    )
    context = ModelContext(container)
    context.insert(show)
    context.insert(flight)
    try context.save()
  }

  /// Saves a change of the show, and a flight that there is already.
  private func saveInPart() {
    show.title = "new"
    context.insert(Flight("CD", 2, code: "x"))
    #expect(throws: SwiftDataError.self) { try context.save() }
  }

  private func storedTitle() throws -> String? {
    try ModelContext(container).fetch(FetchDescriptor<Show>()).first?.title
  }

  @Test func `shows others what the first has committed, and keeps the rest`() throws {
    let merging = ModelContext(container)
    merging.automaticallyMergesChanges = true
    let seen = try #require(try merging.fetch(FetchDescriptor<Show>()).first)
    let history = try HistoryObserver(modelContainer: container)
    #expect(seen.title == "old")
    saveInPart()
    #expect(try storedTitle() == "new")
    merging.processPendingChanges()
    #expect(seen.title == "new")
    #expect(history.eventCounter == 1)
    #expect(context.insertedModelsArray.count == 1 && context.changedModelsArray.isEmpty)
  }

  @Test func `tells that it saved the first store's part, once`() throws {
    let told = Mutex<[[PersistentIdentifier]]>([])
    let observer = NotificationCenter.default.addObserver(
      forName: ModelContext.didSave,
      object: context,
      queue: nil
    ) { notice in
      let updated = notice.userInfo?[ModelContext.NotificationKey.updatedIdentifiers]
      told.withLock { $0.append(updated as? [PersistentIdentifier] ?? []) }
    }
    defer { NotificationCenter.default.removeObserver(observer) }
    saveInPart()
    #expect(told.withLock { $0 } == [[show.persistentModelID]])
    #expect(throws: SwiftDataError.self) { try context.save() }
    #expect(told.withLock { $0.count } == 1)
  }

  @Test func `leaves an undo what was saved as a change, and forgets the rest`() throws {
    let undo = UndoManager()
    undo.groupsByEvent = false
    context.undoManager = undo
    func together(_ change: () -> Void) {
      undo.beginUndoGrouping()
      change()
      undo.endUndoGrouping()
    }
    together { show.title = "new" }
    together { flight.gate = "B" }
    together { context.insert(Flight("CD", 2, code: "x")) }
    #expect(throws: SwiftDataError.self) { try context.save() }
    undo.undo()
    undo.undo()
    #expect(flight.gate == "")
    #expect(!context.hasChanges)
    undo.undo()
    #expect(show.title == "old")
    #expect(context.hasChanges)
    try context.save()
    #expect(try storedTitle() == "old")
  }

  @Test func `writes nothing at all if the second must not be written to`() throws {
    let folder = try TemporaryFolder()
    func open(allowsSave: Bool) throws -> ModelContext {
      ModelContext(
        try ModelContainer(
          for: Schema([Show.self, Ticket.self, Flight.self]),
          configurations: LogStoreConfiguration(
            "shows",
            schema: Schema([Show.self, Ticket.self]),
            url: folder.url.appending(path: "shows.store")
          ),
          LogStoreConfiguration(
            "flights",
            schema: Schema([Flight.self]),
            url: folder.url.appending(path: "flights.store"),
            allowsSave: allowsSave
          )
        )
      )
    }
    try
      ({
        let context = try open(allowsSave: true)
        context.insert(Flight("AB", 1))
        try context.save()
      })()
    let context = try open(allowsSave: false)
    let show = Show("new")
    context.insert(show)
    let flight = try #require(try context.fetch(FetchDescriptor<Flight>()).first)
    flight.gate = "B"
    #expect(throws: SwiftDataError.self) { try context.save() }
    #expect(show.persistentModelID.isTemporary)
    #expect(try ModelContext(context.container).fetchCount(FetchDescriptor<Show>()) == 0)
  }
}

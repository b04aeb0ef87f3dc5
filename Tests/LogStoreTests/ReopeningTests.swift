import LogStore
import SwiftData
import Testing

@Suite struct `Opening a log store again` {
  let folder: TemporaryFolder
  let url: URL

  init() throws {
    folder = try TemporaryFolder()
    url = folder.url.appending(path: "shows.store")
  }

  func open(allowsSave: Bool = true) throws -> ModelContext {
    ModelContext(
      try ModelContainer(
        for: Schema([Show.self]),
        configurations: [LogStoreConfiguration(url: url, allowsSave: allowsSave)]
      )
    )
  }

  @Test func `finds what was saved, changed and deleted before`() throws {
    try {
      let context = try open()
      let show = Show("Opening night")
      show.tickets = (1...100).map { Ticket("seat \($0)", price: $0) }
      context.insert(show)
      try context.save()
      for ticket in show.tickets where ticket.price % 10 == 0 { ticket.note = "gallery" }
      try context.save()
      for ticket in show.tickets where ticket.price > 50 { context.delete(ticket) }
      try context.save()
    }()
    let context = try open()
    let show = try #require(try context.fetch(FetchDescriptor<Show>()).first)
    #expect(show.tickets.map(\.price) == Array(1...50))
    #expect(show.tickets.filter { $0.note == "gallery" }.count == 5)
    let cheap = FetchDescriptor<Ticket>(predicate: #Predicate { $0.price < 4 })
    #expect(try context.fetchCount(cheap) == 3)
  }

  @Test func `is shared with another container that has it open`() throws {
    let first = try open()
    first.insert(Show("Premiere"))
    try first.save()
    #expect(try open().fetch(FetchDescriptor<Show>()).map(\.title) == ["Premiere"])
  }

  @Test func `read-only can be done beside a writer, and saves are refused there`() throws {
    let writer = try open()
    writer.insert(Show("Premiere"))
    try writer.save()
    let reader = try open(allowsSave: false)
    let show = try #require(try reader.fetch(FetchDescriptor<Show>()).first)
    #expect(show.title == "Premiere")
    show.title = "Changed"
    #expect(throws: SwiftDataError.self) { try reader.save() }
  }

  @Test func `read-only sees what the writer saves in the meantime`() throws {
    let writer = try open()
    let premiere = Show("Premiere")
    writer.insert(premiere)
    try writer.save()
    let reader = try open(allowsSave: false)
    let byTitle = FetchDescriptor<Show>(sortBy: [SortDescriptor(\.title)])
    let known = try #require(try reader.fetch(byTitle).first)
    writer.insert(Show("Encore"))
    premiere.title = "Reprise"
    try writer.save()
    #expect(try reader.fetchCount(byTitle) == 2)
    #expect(try reader.fetch(byTitle).map(\.title) == ["Encore", "Reprise"])
    #expect(known.title == "Reprise")
    writer.delete(premiere)
    try writer.save()
    #expect(try reader.fetch(byTitle).map(\.title) == ["Encore"])
  }

  @Test func `gives new models keys that were never used`() throws {
    let first = try {
      let context = try open()
      let show = Show("1")
      context.insert(show)
      try context.save()
      let identifier = show.persistentModelID
      context.delete(show)
      try context.save()
      return identifier
    }()
    let context = try open()
    let show = Show("2")
    context.insert(show)
    try context.save()
    #expect(show.persistentModelID > first)
    #expect((context.model(for: first) as? Show)?.title == "")
  }
}

import LogStore
import SwiftData
import Testing

@Suite struct `Fetching from a log store` {
  let context: ModelContext
  let shows: [Show]

  init() throws {
    let container = try ModelContainer(
      for: Schema([Show.self]),
      configurations: [ModelConfiguration(isStoredInMemoryOnly: true)]
    )
    let writer = ModelContext(container)
    shows = ["Matinee", "Evening"].map { Show($0) }
    for number in 1...200 {
      let ticket = Ticket("seat \(number)", price: number)
      ticket.show = shows[number % 2]
      writer.insert(ticket)
    }
    try writer.save()
    context = ModelContext(container)
  }

  @Test func `finds rows by their identifiers, whatever else is asked of them`() throws {
    let some = try context.fetch(FetchDescriptor<Ticket>(predicate: #Predicate { $0.price < 6 }))
    let identifiers = some.map(\.persistentModelID)
    let found = try context.fetch(
      FetchDescriptor<Ticket>(
        predicate: #Predicate { identifiers.contains($0.persistentModelID) && $0.price > 2 },
        sortBy: [SortDescriptor(\.price, order: .reverse)]
      )
    )
    #expect(found.map(\.price) == [5, 4, 3])
    let last = try #require(identifiers.last)
    let one = try context.fetch(
      FetchDescriptor<Ticket>(predicate: #Predicate { $0.persistentModelID == last })
    )
    #expect(one.map(\.persistentModelID) == [last])
  }

  @Test func `tells whether the identifier of what a row refers to, or another one, is listed`()
    throws
  {
    let (matinee, evening) = (shows[0].persistentModelID, shows[1].persistentModelID)
    let writer = ModelContext(context.container)
    writer.insert(Ticket("no seat", price: 1000))
    try writer.save()
    let listed = [evening]
    func count(_ predicate: Predicate<Ticket>) throws -> Int {
      try context.fetchCount(FetchDescriptor(predicate: predicate))
    }
    #expect(
      try count(#Predicate { listed.contains($0.show?.persistentModelID ?? matinee) }) == 100
    )
    #expect(
      try count(#Predicate { listed.contains($0.show?.persistentModelID ?? evening) }) == 101
    )
  }

  @Test func `finds the rows that refer to a row, also after they were moved`() throws {
    let matinee = shows[0].persistentModelID
    let tickets = FetchDescriptor<Ticket>(
      predicate: #Predicate { $0.show?.persistentModelID == matinee && $0.price <= 6 },
      sortBy: [SortDescriptor(\.price)]
    )
    #expect(try context.fetch(tickets).map(\.price) == [2, 4, 6])
    let moved = try #require(try context.fetch(tickets).first)
    let evening = shows[1].persistentModelID
    moved.show = try #require(context.model(for: evening) as? Show)
    try context.save()
    let other = ModelContext(context.container)
    #expect(try other.fetch(tickets).map(\.price) == [4, 6])
    #expect(try other.fetchCount(tickets) == 2)
  }

  @Test func `gives the first of many in order, and the page after them`() throws {
    var descriptor = FetchDescriptor<Ticket>(
      predicate: #Predicate { $0.seat.contains("9") },
      sortBy: [SortDescriptor(\.show?.title), SortDescriptor(\.price, order: .reverse)]
    )
    descriptor.fetchLimit = 2
    #expect(try context.fetch(descriptor).map(\.price) == [199, 197])
    descriptor.fetchOffset = 2
    #expect(try context.fetch(descriptor).map(\.price) == [195, 193])
  }

  @Test func `keeps equal models in the order they were first saved, with unsaved changes too`()
    throws
  {
    let rows = try context.fetch(FetchDescriptor<Ticket>(predicate: #Predicate { $0.price <= 4 }))
    for ticket in rows { ticket.note = "same" }
    rows[3].note = "b"
    rows[1].note = nil
    try context.save()
    // What the store answers has these two elsewhere, or not at all.
    rows[3].note = "same"
    rows[1].note = "same"
    context.insert(Ticket("new", price: 3))
    context.insertedModelsArray.compactMap { $0 as? Ticket }.first?.note = "same"
    for sort in [[SortDescriptor(\Ticket.note)], []] {
      let found = try context.fetch(
        FetchDescriptor<Ticket>(predicate: #Predicate { $0.note == "same" }, sortBy: sort)
      )
      #expect(found.map(\.seat) == ["seat 1", "seat 2", "seat 3", "seat 4", "new"])
    }
  }

  @Test(arguments: [1, 2, 50])
  func `shows in batches what others have saved to models that are held`(size: Int) throws {
    let held = try context.fetch(FetchDescriptor<Ticket>())
    let other = ModelContext(context.container)
    let theirs = try other.fetch(
      FetchDescriptor<Ticket>(predicate: #Predicate { $0.price < 10 })
    )
    for ticket in theirs { ticket.note = "late \(10 - ticket.price)" }
    try other.save()
    let descriptor = FetchDescriptor<Ticket>(
      predicate: #Predicate { $0.note != nil },
      sortBy: [SortDescriptor(\.note)]
    )
    let batches = try context.fetch(descriptor, batchSize: size)
    #expect(batches.map(\.note) == (1...9).map { "late \($0)" })
    #expect(held.filter { $0.note != nil }.count == 9)
  }
}

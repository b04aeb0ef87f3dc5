import Foundation
import ModelRuntime
import Synchronization
import Testing

/// Counts how often initial values are asked for.
enum Ticket {
  private static let count = Mutex(0)
  static func next() -> Int {
    count.withLock {
      $0 += 1
      return $0
    }
  }
}

@Model class Ticketed {
  var number = Ticket.next()
  var title: String
  var notes: String? = "none"
  var tags: [String] = ["new"]
  var day: Date = Date.now
  var uuid: UUID = UUID()
  init(title: String) { self.title = title }
}

@Model final class ReturnTicket: Ticketed {
  var back = Ticket.next()
  init() { super.init(title: "return") }
}

@Model final class WatchedTicket {
  var number = 0
  @Transient var seen = Ticket.next()
  @Transient lazy var text = "ticket \(number)"
  init() {}
}

@Suite(.serialized) struct `An object of a fetched row` {
  let configuration = MemoryStore.Configuration()

  private func context(_ types: any PersistentModel.Type...) throws -> ModelContext {
    ModelContext(try ModelContainer(for: Schema(types), configurations: [configuration]))
  }

  @Test func `has the row's values, and does not run the initial ones`() throws {
    let context = try context(Ticketed.self, ReturnTicket.self)
    let ticket = ReturnTicket()
    ticket.notes = nil
    context.insert(ticket)
    try context.save()
    let reader = ModelContext(context.container)
    // The first object of a class is made by its initializer, of which later ones are copies.
    _ = try ModelContext(context.container).fetch(FetchDescriptor<ReturnTicket>())
    let before = Ticket.next()
    let found = try #require(try reader.fetch(FetchDescriptor<ReturnTicket>()).first)
    #expect(Ticket.next() == before + 1)
    #expect(found !== ticket)
    #expect((found.number, found.back) == (ticket.number, ticket.back))
    #expect(found.title == "return")
    #expect(found.notes == nil)
    #expect(found.tags == ["new"])
    #expect(found.day == ticket.day)
    #expect(found.uuid == ticket.uuid)
  }

  @Test func `is as good as any other to change and save`() throws {
    let context = try context(Ticketed.self)
    for number in 0..<100 { context.insert(Ticketed(title: "\(number)")) }
    try context.save()
    let writer = ModelContext(context.container)
    for ticket in try writer.fetch(FetchDescriptor<Ticketed>()) {
      ticket.title += "!"
      ticket.tags.append("seen")
    }
    try writer.save()
    let found = try ModelContext(context.container).fetch(FetchDescriptor<Ticketed>())
    #expect(Set(found.map(\.title)) == Set((0..<100).map { "\($0)!" }))
    #expect(found.allSatisfy { $0.tags == ["new", "seen"] })
  }

  @Test func `has the initial values of what is not stored`() throws {
    let context = try context(WatchedTicket.self)
    let ticket = WatchedTicket()
    ticket.number = 7
    context.insert(ticket)
    try context.save()
    let reader = ModelContext(context.container)
    let found = try #require(try reader.fetch(FetchDescriptor<WatchedTicket>()).first)
    #expect(found.seen > ticket.seen)
    #expect(found.text == "ticket 7")
  }
}

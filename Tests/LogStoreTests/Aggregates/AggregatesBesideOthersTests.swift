import LogStore
import SwiftData
import Testing

@Suite struct `Figures of a context with unsaved changes` {
  /// A model with an unsaved change of one property, another one of which another context saves.
  @Test(arguments: [false, true])
  func `count what others saved of the same model`(isSearch: Bool) throws {
    let container = try ModelContainer(
      for: Ticket.self,
      Show.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let (mine, other) = (ModelContext(container), ModelContext(container))
    for seat in ["a", "b", "c"] { other.insert(Ticket(seat, price: 1)) }
    try other.save()
    let own = try #require(
      try mine.fetch(FetchDescriptor<Ticket>(predicate: #Predicate { $0.seat == "b" })).first
    )
    own.note = "mine"
    #expect(own.price == 1)
    for ticket in try other.fetch(FetchDescriptor<Ticket>()) where ticket.seat == "b" {
      ticket.price = 40
      ticket.seat = "balcony"
    }
    try other.save()
    if isSearch {
      let found = try mine.search(
        FetchDescriptor<Ticket>(),
        for: TextQuery("balcony"),
        in: \.seat
      )
      #expect(found.map(\.model.price) == [40])
    } else {
      let (sum, last) = try mine.aggregate(
        FetchDescriptor<Ticket>(),
        .sum(\.price),
        .maximum(\.seat)
      )
      #expect(sum == 42)
      #expect(last == "c")
      let groups = try mine.aggregate(FetchDescriptor<Ticket>(), by: \.seat, .count)
      #expect(groups.map(\.key) == ["a", "balcony", "c"])
    }
    #expect(own.note == "mine")
    #expect(try mine.fetch(FetchDescriptor<Ticket>()).map(\.price).reduce(0, +) == 42)
  }

  /// Three tickets; one of them has an unsaved change, and another context deletes it.
  @Test(arguments: [false, true], [false, true])
  func `leave out a model that others have deleted, as fetches do`(
    merges: Bool,
    isSearch: Bool
  ) throws {
    let container = try ModelContainer(
      for: Ticket.self,
      Show.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let (mine, other) = (ModelContext(container), ModelContext(container))
    mine.automaticallyMergesChanges = merges
    for seat in ["a", "b", "c"] { other.insert(Ticket(seat, price: 1)) }
    try other.save()
    let own = try #require(
      try mine.fetch(FetchDescriptor<Ticket>(predicate: #Predicate { $0.seat == "b" })).first
    )
    own.note = "unsaved"
    for ticket in try other.fetch(FetchDescriptor<Ticket>()) where ticket.seat == "b" {
      other.delete(ticket)
    }
    try other.save()
    if isSearch {
      #expect(try mine.search(FetchDescriptor<Ticket>(), for: "b", in: \.seat).isEmpty)
    }
    let (count, sum) = try mine.aggregate(FetchDescriptor<Ticket>(), .count, .sum(\.price))
    #expect(count == 2 && sum == 2)
    #expect(try mine.distinct(\.seat, in: FetchDescriptor<Ticket>()) == ["a", "c"])
    #expect(try mine.search(FetchDescriptor<Ticket>(), for: "b", in: \.seat).isEmpty)
    #expect(try mine.fetchCount(FetchDescriptor<Ticket>()) == 2)
    #expect(throws: SwiftDataError.self) { try mine.save() }
  }
}

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
}

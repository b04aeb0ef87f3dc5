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

@Suite struct `Questions without pending changes` {
  private let context: ModelContext
  private let own: Ticket

  init() throws {
    let container = try ModelContainer(
      for: Ticket.self,
      Show.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    context = ModelContext(container)
    let show = Show("stored")
    context.insert(show)
    for seat in ["a", "b", "c"] {
      let ticket = Ticket(seat, price: 1)
      ticket.show = show
      context.insert(ticket)
    }
    try context.save()
    own = try #require(
      try context.fetch(FetchDescriptor<Ticket>(predicate: #Predicate { $0.seat == "b" })).first
    )
    own.price = 40
    own.seat = "balcony"
    show.title = "unsaved"
    context.insert(Ticket("d", price: 100))
  }

  /// Rows answer, objects because of a limit, or objects because of the predicate.
  enum Way: String, CaseIterable { case rows, limit, predicate }

  private func descriptor(_ way: Way) -> FetchDescriptor<Ticket> {
    var descriptor = FetchDescriptor<Ticket>(sortBy: [SortDescriptor(\.seat)])
    descriptor.includePendingChanges = false
    switch way {
    case .rows: break
    case .limit: descriptor.fetchLimit = 100
    case .predicate: descriptor.predicate = #Predicate { $0.isPriced }
    }
    return descriptor
  }

  @Test(arguments: Way.allCases)
  func `are about what is stored`(way: Way) throws {
    let descriptor = descriptor(way)
    let (count, sum, last) = try context.aggregate(
      descriptor,
      .count,
      .sum(\.price),
      .maximum(\.seat)
    )
    #expect(count == 3 && sum == 3 && last == "c")
    #expect(try context.distinct(\.show?.title, in: descriptor) == ["stored"])
    let columns = try context.fetch(descriptor, \.seat, \.price)
    #expect(columns.map(\.0) == ["a", "b", "c"] && columns.map(\.1) == [1, 1, 1])
    #expect(try context.search(descriptor, for: "balcony", in: \.seat).isEmpty)
    let found = try context.search(descriptor, for: "b", in: \.seat)
    #expect(found.count == 1 && found.first?.model === own)
    // The objects keep what is unsaved.
    #expect(own.price == 40 && own.seat == "balcony")
    let (all, total) = try context.aggregate(FetchDescriptor<Ticket>(), .count, .sum(\.price))
    #expect(all == 4 && total == 142)
  }

  @Test func `have the context's own models among their columns`() throws {
    let shows = try context.fetch(descriptor(.limit), \.show)
    #expect(shows.count == 3 && shows.allSatisfy { $0?.modelContext === context })
  }
}

extension Ticket {
  /// What rows do not tell.
  fileprivate var isPriced: Bool { price > 0 }
}

import Foundation
import LogStore
import Observation
import SwiftData
import Testing

@Model private final class SharedOwner {
  var number: Int
  @Relationship(inverse: \SharedCard.owner) var cards: [SharedCard] = []

  init(_ number: Int) { self.number = number }
}

@Model private final class SharedCard {
  @Attribute(.unique) var key: Int
  var owner: SharedOwner?

  init(_ key: Int) { self.key = key }
}

/// A container whose stores keep the same classes.
private struct SharedClasses {
  let folder: TemporaryFolder
  let schema = Schema([Ticket.self, Show.self])

  init() throws { folder = try TemporaryFolder() }

  func configuration(_ name: String, allowsSave: Bool = true) -> ModelConfiguration {
    ModelConfiguration(
      name,
      schema: schema,
      url: folder.url.appending(path: name),
      allowsSave: allowsSave
    )
  }

  func open(_ names: String...) throws -> ModelContainer {
    try ModelContainer(for: schema, configurations: names.map { configuration($0) })
  }

  /// Saves tickets to one store alone.
  func add(_ tickets: [(String, Int)], to name: String) throws {
    let context = ModelContext(try open(name))
    for (seat, price) in tickets { context.insert(Ticket(seat, price: price)) }
    try context.save()
  }

  func seats(in name: String) throws -> [String] {
    try ModelContext(open(name)).fetch(FetchDescriptor<Ticket>()).map(\.seat)
  }
}

@Suite struct `A class that several stores keep` {
  private let shared: SharedClasses

  init() throws {
    shared = try SharedClasses()
    try shared.add([("A1", 1), ("A2", 3), ("A3", 5)], to: "first")
    try shared.add([("B1", 2), ("B2", 3), ("B3", 0)], to: "second")
  }

  private func seats(
    _ descriptor: FetchDescriptor<Ticket>,
    _ context: ModelContext
  ) throws -> [String] {
    try context.fetch(descriptor).map(\.seat)
  }

  @Test func `is fetched by what is stored where pending changes are left out`() throws {
    let context = ModelContext(try shared.open("first", "second"))
    for ticket in try context.fetch(FetchDescriptor<Ticket>()) { ticket.price = 9 - ticket.price }
    var stored = FetchDescriptor<Ticket>(sortBy: [SortDescriptor(\.price), SortDescriptor(\.seat)])
    stored.includePendingChanges = false
    stored.fetchLimit = 3
    let tickets = try context.fetch(stored)
    #expect(tickets.map(\.seat) == ["B3", "A1", "B1"] && tickets.map(\.price) == [9, 8, 7])
    #expect(
      try context.fetchIdentifiers(stored) == tickets.map(\.persistentModelID)
    )
  }

  @Test func `is fetched from all of them, in the order of the configurations`() throws {
    let context = ModelContext(try shared.open("first", "second"))
    #expect(try seats(FetchDescriptor(), context) == ["A1", "A2", "A3", "B1", "B2", "B3"])
    let reversed = ModelContext(try shared.open("second", "first"))
    #expect(try seats(FetchDescriptor(), reversed) == ["B1", "B2", "B3", "A1", "A2", "A3"])
  }

  @Test func `is sorted, cut and counted over all of them`() throws {
    let context = ModelContext(try shared.open("first", "second"))
    var cheap = FetchDescriptor<Ticket>(
      predicate: #Predicate { $0.price > 0 },
      sortBy: [SortDescriptor(\.price)]
    )
    #expect(try seats(cheap, context) == ["A1", "B1", "A2", "B2", "A3"])
    cheap.fetchOffset = 1
    cheap.fetchLimit = 3
    #expect(try seats(cheap, context) == ["B1", "A2", "B2"])
    #expect(try context.fetchCount(cheap) == 3)
    #expect(try context.fetchIdentifiers(cheap).count == 3)
    #expect(try context.fetchCount(FetchDescriptor<Ticket>()) == 6)
    var visited: [String] = []
    try context.enumerate(cheap, batchSize: 2) { visited.append($0.seat) }
    #expect(visited == ["B1", "A2", "B2"])
  }

  /// The look-up by a value has a way of its own, which remembers its plan.
  @Test func `is found by a value in each of them, again and again`() throws {
    let context = ModelContext(try shared.open("first", "second"))
    for _ in 0..<3 {
      for seat in ["A2", "B2"] {
        let found = FetchDescriptor<Ticket>(predicate: #Predicate { $0.seat == seat })
        #expect(try seats(found, context) == [seat])
      }
      let price = 3
      let found = FetchDescriptor<Ticket>(predicate: #Predicate { $0.price == price })
      #expect(try seats(found, context) == ["A2", "B2"])
    }
  }

  @Test func `saves each model where it is, and new ones to the first`() throws {
    let context = ModelContext(try shared.open("first", "second"))
    for ticket in try context.fetch(FetchDescriptor<Ticket>()) where ticket.price == 3 {
      ticket.seat += "+"
    }
    context.insert(Ticket("C1", price: 9))
    try context.save()
    #expect(try shared.seats(in: "first") == ["A1", "A2+", "A3", "C1"])
    #expect(try shared.seats(in: "second") == ["B1", "B2+", "B3"])
    try context.delete(model: Ticket.self, where: #Predicate { $0.price < 2 })
    try context.save()
    #expect(try shared.seats(in: "first") == ["A2+", "A3", "C1"])
    #expect(try shared.seats(in: "second") == ["B1", "B2+"])
  }

  /// As of a catalogue that comes with the app, beside the user's own models.
  @Test func `goes, when it is new, to the first store that may be written`() throws {
    let configurations = [
      shared.configuration("first", allowsSave: false), shared.configuration("second"),
    ]
    let container = try ModelContainer(for: shared.schema, configurations: configurations)
    let context = ModelContext(container)
    context.insert(Ticket("C1", price: 9))
    try context.save()
    #expect(
      try seats(FetchDescriptor(), context) == ["A1", "A2", "A3", "B1", "B2", "B3", "C1"]
    )
    #expect(try shared.seats(in: "second") == ["B1", "B2", "B3", "C1"])
    let all = try context.fetch(FetchDescriptor<Ticket>())
    all[0].price = 7
    all[3].price = 7
    let error = #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
    #expect(error?.message.contains("\"first\" was opened with allowsSave: false") == true)
    context.rollback()
    #expect(try context.fetch(FetchDescriptor<Ticket>()).map(\.price) == [1, 3, 5, 2, 3, 0, 9])
  }

  /// Relationships cannot cross stores.
  @Test(arguments: [true, false])
  func `goes, when it is new, where those are that it is related to`(appends: Bool) throws {
    let context = ModelContext(try shared.open("second"))
    context.insert(Show("Hamlet"))
    try context.save()
    let both = ModelContext(try shared.open("first", "second"))
    let hamlet = try #require(try both.fetch(FetchDescriptor<Show>()).first)
    let ticket = Ticket("C1", price: 9)
    if appends {
      hamlet.tickets.append(ticket)
    } else {
      both.insert(ticket)
      ticket.show = hamlet
    }
    let other = Show("Lear")
    both.insert(other)
    other.tickets = [Ticket("D1", price: 1), Ticket("D2", price: 1)]
    try both.save()
    #expect(try shared.seats(in: "second") == ["B1", "B2", "B3", "C1"])
    #expect(try shared.seats(in: "first") == ["A1", "A2", "A3", "D1", "D2"])
    #expect(hamlet.tickets.map(\.seat) == ["C1"] && ticket.show === hamlet)
  }

  /// The first attempt has named rows of the store that the second attempt does not write.
  @Test func `keeps nothing of a failed save that meant another store`() throws {
    let context = ModelContext(try shared.open("second"))
    context.insert(Show("Hamlet"))
    try context.save()
    let both = ModelContext(try shared.open("first", "second"))
    let shows = try both.fetch(FetchDescriptor<Show>())
    let tickets = try both.fetch(FetchDescriptor<Ticket>())
    let ticket = Ticket("C1", price: 9)
    both.insert(ticket)
    // A relationship across stores.
    tickets[0].show = shows[0]
    #expect(throws: SwiftDataError.modelValidationFailure) { try both.save() }
    tickets[0].show = nil
    ticket.show = shows[0]
    try both.save()
    #expect(try shared.seats(in: "first") == ["A1", "A2", "A3"])
    #expect(try shared.seats(in: "second") == ["B1", "B2", "B3", "C1"])
  }

  @Test func `is changed and deleted by batches in all of them`() throws {
    let context = ModelContext(try shared.open("first", "second"))
    let updated = try context.batchUpdate(
      Ticket.self,
      where: #Predicate { $0.price == 3 },
      .add(10, to: \.price)
    )
    #expect(updated.updatedCount == 2 && updated.updatedIdentifiers.count == 2)
    #expect(Set(updated.updatedIdentifiers.map(\.storeIdentifier)).count == 2)
    #expect(try context.fetch(FetchDescriptor<Ticket>()).map(\.price) == [1, 13, 5, 2, 13, 0])
    let deleted = try context.batchDelete(Ticket.self, where: #Predicate { $0.price < 13 })
    #expect(deleted.deletedCount == 4 && deleted.commitCount == 2)
    #expect(try shared.seats(in: "first") == ["A2"])
    #expect(try shared.seats(in: "second") == ["B2"])
  }

  @Test func `is not changed by a batch that would write to a read-only store`() throws {
    let configurations = [
      shared.configuration("first"), shared.configuration("second", allowsSave: false),
    ]
    let context = ModelContext(
      try ModelContainer(for: shared.schema, configurations: configurations)
    )
    #expect(throws: SwiftDataError.modelValidationFailure) {
      try context.batchDelete(Ticket.self, where: #Predicate { $0.price == 3 })
    }
    #expect(try context.fetchCount(FetchDescriptor<Ticket>()) == 6)
    // It has none of these.
    let deleted = try context.batchDelete(Ticket.self, where: #Predicate { $0.price == 5 })
    #expect(deleted.deletedCount == 1)
    #expect(try context.fetchCount(FetchDescriptor<Ticket>()) == 5)
  }

  @Test func `is measured, listed and searched over all of them`() throws {
    let context = ModelContext(try shared.open("first", "second"))
    let all = FetchDescriptor<Ticket>(sortBy: [SortDescriptor(\.price)])
    let (count, sum) = try context.aggregate(all, .count, .sum(\.price))
    #expect(count == 6 && sum == 14)
    let groups = try context.aggregate(all, by: \.price, .count)
    #expect(groups.count == 5)
    let rows = try context.fetch(all, \.seat, \.price)
    #expect(rows.map(\.0) == ["B3", "A1", "B1", "A2", "B2", "A3"])
    let found = try context.search(FetchDescriptor<Ticket>(), for: TextQuery("B2"), in: \.seat)
    #expect(found.map(\.model.seat) == ["B2"])
    let plan = try context.explain(all)
    #expect(plan.store.split(separator: ", ").count == 2 && plan.resultCount == 6)
  }

  @Test func `cannot be paged, which an error says`() throws {
    let context = ModelContext(try shared.open("first", "second"))
    let error = #expect(throws: PageError.severalStores(entity: "Ticket")) {
      try context.page(FetchDescriptor<Ticket>())
    }
    #expect(error.map { "\($0)" }?.contains("expected one store of the container") == true)
  }

  @MainActor
  @Test func `is observed in all of them`() throws {
    let container = try shared.open("first", "second")
    let context = ModelContext(container)
    let observer = try ResultsObserver<Ticket, Never>(
      filterBy: #Predicate { $0.price >= 3 },
      sortBy: [SortDescriptor(\.price), SortDescriptor(\.seat)],
      modelContext: context
    )
    #expect(observer.results.map(\.seat) == ["A2", "B2", "A3"])
    let other = ModelContext(container)
    for ticket in try other.fetch(FetchDescriptor<Ticket>()) where ticket.seat == "B1" {
      ticket.price = 4
    }
    try other.save()
    #expect(observer.results.map(\.seat) == ["A2", "B2", "B1", "A3"])
    try other.delete(model: Ticket.self, where: #Predicate { $0.seat == "B2" })
    try other.save()
    #expect(observer.results.map(\.seat) == ["A2", "B1", "A3"])
  }

  @Test func `is fetched with its subclasses, of which one store keeps more`() throws {
    func open() throws -> ModelContainer {
      try ModelContainer(
        for: Schema([Vehicle.self, Truck.self]),
        configurations: [
          ModelConfiguration(
            "cars",
            schema: Schema([Vehicle.self]),
            url: shared.folder.url.appending(path: "cars")
          ),
          ModelConfiguration(
            "trucks",
            schema: Schema([Vehicle.self, Truck.self]),
            url: shared.folder.url.appending(path: "trucks")
          ),
        ]
      )
    }
    let context = ModelContext(try open())
    context.insert(Truck(plate: "T", axles: 2))
    context.insert(Vehicle(plate: "C"))
    try context.save()
    let reader = ModelContext(try open())
    #expect(try reader.fetchCount(FetchDescriptor<Truck>()) == 1)
    #expect(try reader.fetch(FetchDescriptor<Vehicle>()).map(\.plate) == ["C", "T"])
  }

  /// Random fetches with unsaved changes, beside the same of an array.
  @Test(arguments: 0..<40 as Range<UInt64>)
  func `is fetched with unsaved changes`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let context = ModelContext(try shared.open("first", "second"))
    var expected = try context.fetch(FetchDescriptor<Ticket>())
    for step in 0..<30 {
      switch Int.random(in: 0..<8, using: &random) {
      case 0...1:
        let ticket = Ticket("N\(step)", price: .random(in: 0..<6, using: &random))
        context.insert(ticket)
        expected.append(ticket)
      case 2...4:
        expected.randomElement(using: &random)?.price = .random(in: 0..<6, using: &random)
      case 5:
        if let place = expected.indices.randomElement(using: &random) {
          context.delete(expected.remove(at: place))
        }
      case 6: try context.save()
      default:
        // What is not saved is gone.
        context.rollback()
        expected = try context.fetch(FetchDescriptor<Ticket>())
      }
      let bound = Int.random(in: 0..<6, using: &random)
      var descriptor = FetchDescriptor<Ticket>(
        predicate: #Predicate { $0.price >= bound },
        sortBy: [SortDescriptor(\.price), SortDescriptor(\.seat, order: .reverse)]
      )
      let matching = expected.filter { $0.price >= bound }
        .sorted { ($0.price, $1.seat) < ($1.price, $0.seat) }
      #expect(try context.fetchCount(descriptor) == matching.count, "seed \(seed)")
      let offset = Int.random(in: 0..<4, using: &random)
      let limit = Int.random(in: 1..<6, using: &random)
      descriptor.fetchOffset = offset
      descriptor.fetchLimit = limit
      let wanted = matching.dropFirst(offset).prefix(limit).map(\.seat)
      #expect(try seats(descriptor, context) == Array(wanted), "seed \(seed), step \(step)")
      #expect(try context.fetchIdentifiers(descriptor).count == wanted.count, "seed \(seed)")
    }
    try context.save()
    let reader = ModelContext(try shared.open("first", "second"))
    let sorted = FetchDescriptor<Ticket>(sortBy: [SortDescriptor(\.seat)])
    #expect(
      try reader.fetch(sorted).map { [$0.seat, "\($0.price)"] }
        == expected.map { [$0.seat, "\($0.price)"] }.sorted { $0[0] < $1[0] },
      "seed \(seed)"
    )
  }
}

@Suite struct `A save to several stores of one class` {
  private let folder: TemporaryFolder
  private let schema = Schema([SharedOwner.self, SharedCard.self])

  init() throws { folder = try TemporaryFolder() }

  private func open(_ names: String..., readOnly: String = "") throws -> ModelContainer {
    try ModelContainer(
      for: schema,
      configurations: names.map {
        ModelConfiguration(
          $0,
          schema: schema,
          url: folder.url.appending(path: $0),
          allowsSave: $0 != readOnly
        )
      }
    )
  }

  private func save(to name: String, _ body: (ModelContext) throws -> Void) throws {
    let context = ModelContext(try open(name))
    try body(context)
    try context.save()
  }

  private func owner(_ number: Int, in context: ModelContext) throws -> SharedOwner {
    let fetch = FetchDescriptor<SharedOwner>(predicate: #Predicate { $0.number == number })
    return try #require(try context.fetch(fetch).first)
  }

  private func cards(in context: ModelContext) throws -> [String] {
    try context.fetch(FetchDescriptor<SharedCard>(sortBy: [SortDescriptor(\.key)])).map {
      "\($0.key) of \($0.owner?.number ?? 0)"
    }
  }

  /// An upsert leaves one object for each row of its store, and must not touch what another store is to save.
  @Test(arguments: [true, false], [true, false])
  func `keeps the relationships of one when another has an upsert`(
    isStored: Bool,
    isFirst: Bool
  ) throws {
    try save(to: "a") { $0.insert(SharedCard(7)) }
    try save(to: "b") { context in
      context.insert(SharedOwner(2))
      if isStored { context.insert(SharedCard(8)) }
    }
    let container = try isFirst ? open("a", "b") : open("b", "a")
    let context = ModelContext(container)
    let stored = try context.fetch(FetchDescriptor<SharedCard>())
    if isFirst {
      context.insert(SharedCard(7))
    } else {
      // The store of new models is the other: both new ones become one there.
      context.insert(SharedCard(9))
      context.insert(SharedCard(9))
    }
    let card = stored.first { $0.key == 8 } ?? SharedCard(8)
    if !isStored { context.insert(card) }
    card.owner = try owner(2, in: context)
    try context.save()
    #expect(card.owner?.number == 2)
    let expected = isFirst ? ["7 of 0", "8 of 2"] : ["7 of 0", "8 of 2", "9 of 0"]
    #expect(try cards(in: context) == expected)
    #expect(try cards(in: ModelContext(container)) == expected)
  }

  @Test func `is not refused for a change of a read-only one that was taken back`() throws {
    try save(to: "a") { $0.insert(SharedOwner(1)) }
    try save(to: "b") { $0.insert(SharedOwner(2)) }
    let context = ModelContext(try open("a", "b", readOnly: "a"))
    let card = SharedCard(5)
    context.insert(card)
    card.owner = try owner(1, in: context)
    #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
    card.owner = try owner(2, in: context)
    try context.save()
    #expect(!context.hasChanges)
    #expect(try cards(in: ModelContext(try open("b"))) == ["5 of 2"])
  }

  @Test func `brings a model back in its store when its delete is undone`() throws {
    try save(to: "b") { context in
      let owner = SharedOwner(2)
      context.insert(owner)
      owner.cards = [SharedCard(3)]
    }
    let context = ModelContext(try open("a", "b"))
    context.undoManager = UndoManager()
    context.undoManager?.groupsByEvent = false
    func group(_ body: () throws -> Void) rethrows {
      context.undoManager?.beginUndoGrouping()
      try body()
      context.processPendingChanges()
      context.undoManager?.endUndoGrouping()
    }
    let owner = try owner(2, in: context)
    let card = try #require(owner.cards.first)
    group { owner.cards = [] }
    group { context.delete(card) }
    try context.save()
    context.undoManager?.undo()
    try context.save()
    #expect(try cards(in: ModelContext(try open("b"))) == ["3 of 0"])
    context.undoManager?.undo()
    try context.save()
    #expect(try cards(in: ModelContext(try open("b"))) == ["3 of 2"])
  }

  @Test func `writes to none if a relationship leads to another`() throws {
    try save(to: "a") { $0.insert(SharedCard(1)) }
    try save(to: "b") { $0.insert(SharedOwner(2)) }
    let container = try open("b", "a")
    let context = ModelContext(container)
    let card = try #require(try context.fetch(FetchDescriptor<SharedCard>()).first)
    let owner = try owner(2, in: context)
    owner.number = 3
    card.owner = owner
    let error = #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
    #expect(error?.message.contains("relationships cannot cross stores") == true)
    #expect(owner.cards.map(\.key) == [1] && card.owner === owner)
    let other = ModelContext(container)
    #expect(try other.fetch(FetchDescriptor<SharedOwner>()).map(\.number) == [2])
    card.owner = nil
    try context.save()
    #expect(try ModelContext(container).fetch(FetchDescriptor<SharedOwner>()).map(\.number) == [3])
  }

  @MainActor
  @Test func `leaves the order of a fetch and its observers`() throws {
    try save(to: "a") { context in for key in 1...3 { context.insert(SharedCard(key)) } }
    try save(to: "b") { context in for key in 4...6 { context.insert(SharedCard(key)) } }
    let context = ModelContext(try open("a", "b"))
    let observer = try ResultsObserver<SharedCard, Never>(modelContext: context)
    func check(_ keys: [Int], _ place: String) throws {
      #expect(try context.fetch(FetchDescriptor<SharedCard>()).map(\.key) == keys, "\(place)")
      #expect(observer.results.map(\.key) == keys, "\(place)")
    }
    let cards = try context.fetch(FetchDescriptor<SharedCard>())
    cards[0].owner = SharedOwner(1)
    cards[1].key = 20
    cards[4].key = 50
    try check([1, 20, 3, 4, 50, 6], "changed")
    context.insert(SharedCard(9))
    try check([1, 20, 3, 4, 50, 6, 9], "inserted")
    try context.save()
    try check([1, 20, 3, 9, 4, 50, 6], "saved")
  }
}

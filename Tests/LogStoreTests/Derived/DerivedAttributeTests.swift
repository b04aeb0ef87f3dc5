import Foundation
import SwiftData
import Testing

@testable import LogStore

private typealias Journey = Deriving.Journey
private typealias Seafaring = Deriving.Seafaring
private typealias Cost = Deriving.Cost
private typealias Escort = Deriving.Escort

extension ModelContext {
  fileprivate func trip(_ name: String = "Lisbon") throws -> Journey {
    let found = try fetch(FetchDescriptor<Journey>(predicate: #Predicate { $0.name == name }))
    return try #require(found.first)
  }
}

extension ModelContainer {
  /// Makes sure that every derived attribute is what a count over the stored rows says.
  fileprivate func checkDerived(_ location: SourceLocation = #_sourceLocation) throws {
    for store in stores(of: DefaultStore.self) {
      let violations = try store.tables.derivedViolations()
      #expect(violations.isEmpty, sourceLocation: location)
    }
  }
}

@Suite struct `A derived attribute` {
  let container: ModelContainer
  let context: ModelContext

  init() throws {
    container = try Deriving.container()
    context = ModelContext(container)
    let trip = Journey("Lisbon", notes: "Ça va")
    context.insert(trip)
    trip.expenses = [Cost(10, tax: 1, weight: 0.5), Cost(32, weight: 2)]
    try context.save()
  }

  @Test func `has its value once its model is saved`() throws {
    let trip = try context.trip()
    #expect(trip.expenseCount == 2)
    #expect(trip.total == 42)
    #expect(trip.tax == 1)
    #expect(trip.weight == 2.5)
    #expect(trip.searchName == "lisbon")
    #expect(trip.searchNotes == "ca va")
    #expect(trip.lastModified != nil)
    try container.checkDerived()
  }

  @Test func `is zero, empty or nil before`() {
    let trip = Journey("Porto")
    context.insert(trip)
    trip.expenses = [Cost(1)]
    #expect(trip.expenseCount == 0)
    #expect(trip.total == 0)
    #expect(trip.searchName == "")
    #expect(trip.searchNotes == nil)
    #expect(trip.lastModified == nil)
  }

  @Test func `stays what it was until the next save, in memory, too`() throws {
    let trip = try context.trip()
    trip.expenses.append(Cost(8))
    trip.name = "Porto"
    #expect(trip.expenseCount == 2)
    #expect(trip.searchName == "lisbon")
    try context.save()
    #expect(trip.expenseCount == 3)
    #expect(trip.total == 50)
    #expect(trip.searchName == "porto")
  }

  @Test func `follows a member that is set from its own side`() throws {
    let trip = try context.trip()
    #expect(trip.expenseCount == 2)
    context.insert(Cost(1, of: trip))
    try context.save()
    #expect(trip.expenseCount == 3)
    #expect(trip.total == 43)
  }

  @Test func `follows a number of a member`() throws {
    let trip = try context.trip()
    let expense = try #require(trip.expenses.first { $0.amount == 10 })
    expense.amount = -2
    expense.tax = nil
    expense.weight = 0.25
    try context.save()
    #expect(trip.total == 30)
    #expect(trip.tax == 0)
    #expect(trip.weight == 2.25)
    #expect(trip.expenseCount == 2)
    try container.checkDerived()
  }

  @Test func `follows a member that moves, and one that leaves`() throws {
    let trip = try context.trip()
    let other = Seafaring("Madeira", ship: "Ada")
    context.insert(other)
    try context.save()
    let moved = try #require(trip.expenses.first { $0.amount == 10 })
    moved.trip = other
    try context.save()
    #expect((trip.expenseCount, trip.total, trip.weight) == (1, 32, 2))
    #expect((other.expenseCount, other.total, other.weight) == (1, 10, 0.5))
    trip.expenses = []
    try context.save()
    #expect((trip.expenseCount, trip.total, trip.weight) == (0, 0, 0))
    try container.checkDerived()
  }

  @Test func `follows the deletes of members, alone and with their owner`() throws {
    let trip = try context.trip()
    context.delete(try #require(trip.expenses.first { $0.amount == 32 }))
    try context.save()
    #expect((trip.expenseCount, trip.total) == (1, 10))
    context.delete(trip)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Cost>()) == 0)
    try container.checkDerived()
  }

  @Test func `counts the members of a list of many to many at both ends`() throws {
    let trip = try context.trip()
    let guides = ["Ana", "Rui"].map(Escort.init)
    trip.guides = guides
    try context.save()
    #expect(trip.guideCount == 2)
    #expect(guides.map(\.tripCount) == [1, 1])
    context.delete(guides[0])
    try context.save()
    #expect(trip.guideCount == 1)
    try container.checkDerived()
  }

  @Test func `serves predicates, sort descriptors and indexes`() throws {
    for number in 0..<100 {
      let trip = Journey("Étape \(number)")
      context.insert(trip)
      trip.expenses = (0..<number % 5).map { Cost($0) }
    }
    try context.save()
    let busy = FetchDescriptor<Journey>(
      predicate: #Predicate { $0.expenseCount >= 3 },
      sortBy: [SortDescriptor(\.expenseCount, order: .reverse), SortDescriptor(\.searchName)]
    )
    let found = try context.fetch(busy)
    #expect(found.count == 40)
    #expect(found.first?.expenseCount == 4 && found.last?.expenseCount == 3)
    let name = Schema.Derivation.canonicalText(of: "éTAPE 7")
    let named = FetchDescriptor<Journey>(predicate: #Predicate { $0.searchName == name })
    #expect(try context.fetch(named).map(\.name) == ["Étape 7"])
  }

  @Test func `comes back with an undone delete, and goes with an undone insert`() throws {
    let undo = UndoManager()
    context.undoManager = undo
    let trip = try context.trip()
    context.delete(try #require(trip.expenses.first { $0.amount == 32 }))
    try context.save()
    #expect(trip.total == 10)
    undo.undo()
    try context.save()
    #expect((trip.expenseCount, trip.total) == (2, 42))
    undo.redo()
    try context.save()
    #expect((trip.expenseCount, trip.total) == (1, 10))
    try container.checkDerived()
  }

  @Test func `is the same after a rollback`() throws {
    let trip = try context.trip()
    trip.expenses.append(Cost(8))
    context.rollback()
    try context.save()
    #expect((trip.expenseCount, trip.total) == (2, 42))
  }

  @Test func `of a sum that overflows makes the save throw, and writes nothing`() throws {
    let trip = try context.trip()
    let large = Cost(1, tax: 127, of: trip)
    context.insert(large)
    #expect {
      try context.save()
    } throws: {
      let error = $0 as? SwiftDataError
      return error == .modelValidationFailure && "\($0)".contains("Journey.tax")
    }
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Cost>()) == 2)
    large.tax = 126
    try context.save()
    #expect(trip.tax == 127)
    try container.checkDerived()
  }

  @Test func `takes a sum of integers beyond the bounds of its type in any order`() throws {
    let trip = try context.trip()
    let all = [Int.max, -Int.max, Int.max - 42, 0].map { Cost($0, of: trip) }
    for expense in all { context.insert(expense) }
    try context.save()
    #expect(trip.total == Int.max)
    all[0].amount = 0
    try context.save()
    #expect(trip.total == 0)
  }

  @Test func `loses no small number to a large one that came and went`() throws {
    let trip = try context.trip()
    let large = Cost(0, weight: 1e300, of: trip)
    context.insert(large)
    try context.save()
    #expect(trip.weight == 1e300)
    context.delete(large)
    try context.save()
    #expect(trip.weight == 2.5)
    let infinite = Cost(0, weight: .infinity, of: trip)
    context.insert(infinite)
    try context.save()
    infinite.weight = 1
    try context.save()
    #expect(trip.weight == 3.5)
  }

  @Test
  func `keeps what a member adds to one sum when it changes another, and another member leaves`()
    throws
  {
    let container = try ModelContainer(
      for: Schema([Deriving.Crate.self, Deriving.Bottle.self]),
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let context = ModelContext(container)
    let crate = Deriving.Crate()
    context.insert(crate)
    crate.bottles = [Deriving.Bottle(weight: 1, price: 2), Deriving.Bottle(weight: 4, price: 8)]
    try context.save()
    let bottles = crate.bottles
    bottles[0].weight = 1.5
    context.delete(bottles[1])
    try context.save()
    #expect((crate.weight, crate.price) == (1.5, 2))
  }

  @Test func `is not added up anew for a member that had nothing in it`() throws {
    let container = try ModelContainer(
      for: Schema([Deriving.Crate.self, Deriving.Bottle.self]),
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let context = ModelContext(container)
    let crate = Deriving.Crate()
    context.insert(crate)
    crate.bottles = [1e16, 1, -1e16, 0].map { Deriving.Bottle(weight: 1, price: $0) }
    try context.save()
    #expect(crate.price == 0)
    // In this order it would be one.
    crate.bottles.swapAt(1, 2)
    try context.save()
    crate.bottles[3].crate = nil
    try context.save()
    #expect((crate.bottles.count, crate.price, crate.weight) == (3, 0, 3))
    crate.bottles[0].price = 0
    try context.save()
    #expect(crate.price == 1 - 1e16)
  }

  @Test func `is dated by each save that writes its row`() throws {
    let trip = try context.trip()
    let first = try #require(trip.lastModified)
    let guide = Escort("Ana")
    context.insert(guide)
    try context.save()
    #expect(trip.lastModified == first)
    trip.notes = "more"
    try context.save()
    let second = try #require(trip.lastModified)
    #expect(second > first)
    let expense = try #require(trip.expenses.first)
    expense.amount += 1
    try context.save()
    #expect(try #require(trip.lastModified) > second)
  }

  @Test func `moves its owner in and out of observed results`() throws {
    let observer = try ResultsObserver<Journey, Never>(
      filterBy: #Predicate { $0.expenseCount >= 3 },
      modelContext: context
    )
    #expect(observer.results.isEmpty)
    let expense = Cost(8, of: try context.trip())
    context.insert(expense)
    try context.save()
    #expect(observer.results.map(\.name) == ["Lisbon"])
    // Another context changes the member only, and does not know the owner.
    let other = ModelContext(container)
    try other.delete(model: Cost.self, where: #Predicate { $0.amount == 8 })
    try other.save()
    #expect(observer.results.isEmpty)
  }

  @Test func `is left alone by code that sets properties by name`() throws {
    let trip = try context.trip()
    trip.setValue(forKey: \.total, to: 1)
    #expect(!context.hasChanges)
    #expect(trip.total == 42)
  }

  @Test func `is told to other contexts, and to the history, as an update of its owner`() throws {
    let other = ModelContext(container)
    other.automaticallyMergesChanges = true
    let copy = try other.trip()
    #expect(copy.total == 42)
    let before = try #require(
      try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).last?.token
    )
    let expense = try #require(try context.trip().expenses.first { $0.amount == 32 })
    expense.amount = 33
    try context.save()
    other.processPendingChanges()
    #expect(copy.total == 43)
    var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
    descriptor.predicate = #Predicate { $0.token > before }
    let changes = try context.fetchHistory(descriptor).flatMap(\.changes)
    let updates = changes.compactMap { change -> DefaultHistoryUpdate<Journey>? in
      if case .update(let update) = change { update as? DefaultHistoryUpdate<Journey> } else { nil }
    }
    #expect(updates.count == 1)
    let names = Set(try #require(updates.first).updatedAttributes.map { $0 as AnyKeyPath })
    #expect(names == [\Journey.total, \Journey.lastModified])
  }
}

@Suite struct `Derived attributes of concurrent contexts` {
  @Test func `count what each of two contexts appends to one list`() throws {
    let container = try Deriving.container()
    let first = ModelContext(container)
    first.insert(Journey("Lisbon"))
    try first.save()
    let second = ModelContext(container)
    let (one, two) = (try first.trip(), try second.trip())
    one.expenses.append(Cost(1))
    two.expenses.append(Cost(2))
    one.notes = "one"
    try first.save()
    try second.save()
    #expect((two.expenseCount, two.total, two.notes) == (2, 3, "one"))
    let fresh = try ModelContext(container).trip()
    #expect((fresh.expenseCount, fresh.total) == (2, 3))
    try container.checkDerived()
  }

  @Test func `count a member once that two contexts move to different owners`() throws {
    let container = try Deriving.container()
    let first = ModelContext(container)
    let expense = Cost(5, of: nil)
    for name in ["a", "b", "c"] { first.insert(Journey(name)) }
    first.insert(expense)
    try first.save()
    expense.trip = try first.trip("a")
    try first.save()
    let second = ModelContext(container)
    let copy = try #require(try second.fetch(FetchDescriptor<Cost>()).first)
    #expect(copy.trip?.name == "a")
    copy.trip = try second.trip("b")
    expense.trip = try first.trip("c")
    try second.save()
    try first.save()
    let fresh = ModelContext(container)
    #expect(try ["a", "b", "c"].map { try fresh.trip($0).total } == [0, 0, 5])
    try container.checkDerived()
  }

  @Test func `do not bring back an owner that another context has deleted`() throws {
    let container = try Deriving.container()
    let first = ModelContext(container)
    let trip = Journey("Lisbon")
    first.insert(trip)
    try first.save()
    let second = ModelContext(container)
    let copy = try second.trip()
    copy.expenses.append(Cost(1))
    first.delete(trip)
    try first.save()
    try? second.save()
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Journey>()) == 0)
    try container.checkDerived()
  }
}

@Suite struct `Derived attributes of a batch` {
  let container: ModelContainer
  let context: ModelContext
  fileprivate let trip: Journey

  init() throws {
    container = try Deriving.container()
    context = ModelContext(container)
    trip = Journey("Lisbon")
    context.insert(trip)
    try context.save()
  }

  @Test func `follow what is inserted, updated and deleted, in the objects there are, too`() throws
  {
    try context.batchInsert(
      Cost.self,
      \.amount,
      \.weight,
      \.trip,
      rows: (1...100).map { ($0, Double($0), Optional(trip)) },
      commitEvery: 30
    )
    #expect((trip.expenseCount, trip.total, trip.weight) == (100, 5050, 5050))
    try context.batchUpdate(
      Cost.self,
      where: #Predicate { $0.amount > 50 },
      .add(-50, to: \.amount)
    )
    #expect(trip.total == 2550)
    try context.batchDelete(Cost.self, where: #Predicate { $0.amount > 25 })
    #expect((trip.expenseCount, trip.total) == (50, 650))
    try container.checkDerived()
  }

  @Test func `are made of what the batch gives the model itself`() throws {
    try context.batchInsert(Journey.self, \.name, \.notes, rows: [("Évora", nil), ("Faro", "Ü")])
    #expect(try context.trip("Évora").searchName == "evora")
    #expect(try context.trip("Faro").searchNotes == "u")
    try context.batchUpdate(Journey.self, .change(\.name) { $0.uppercased() })
    #expect(try context.trip("ÉVORA").searchName == "evora")
    try container.checkDerived()
  }

  @Test func `follow an upsert, of rows and of objects`() throws {
    let guide = Escort("Ana")
    context.insert(guide)
    trip.guides = [guide]
    try context.save()
    context.insert(Escort("Ana"))
    try context.save()
    #expect(
      try ModelContext(container).fetch(FetchDescriptor<Escort>()).map(\.searchName) == ["ana"]
    )
    try container.checkDerived()
  }

  @Test func `cannot be set by it`() throws {
    #expect {
      try context.batchInsert(Journey.self, \.name, \.expenseCount, rows: [("Faro", 3)])
    } throws: {
      $0 as? SwiftDataError == .unsupportedKeyPath && "\($0)".contains("Journey.expenseCount")
    }
  }
}

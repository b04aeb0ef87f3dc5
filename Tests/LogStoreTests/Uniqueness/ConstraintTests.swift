import Foundation
import LogStore
import SwiftData
import Testing

@Suite struct `A uniqueness constraint` {
  let context: ModelContext

  init() throws { context = try makeUniqueContext() }

  func insert(_ model: some PersistentModel) throws {
    context.insert(model)
    try context.save()
  }

  @Test func `of several properties compares all of them`() throws {
    let day = Date(timeIntervalSinceReferenceDate: 0)
    try insert(Flight("AB", 1, day: day))
    try insert(Flight("AB", 2, day: day))
    try insert(Flight("A", 1, day: day))
    #expect(try context.fetchCount(FetchDescriptor<Flight>()) == 3)
    try insert(Flight("AB", 1, day: day))
    #expect(try context.fetchCount(FetchDescriptor<Flight>()) == 3)
  }

  @Test func `lets any number of models have nil`() throws {
    for _ in 1...3 { try insert(Flight("AB", 1, day: nil, code: nil)) }
    #expect(try context.fetchCount(FetchDescriptor<Flight>()) == 3)
  }

  @Test func `takes both zeros for one value, and what is not a number for none`() throws {
    let container = try ModelContainer(
      for: Weighing.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let context = ModelContext(container)
    for value in [0, -0.0, .nan, .nan, -.nan, .infinity, .infinity] {
      context.insert(Weighing(value))
      try context.save()
    }
    for (at, value) in [(0, 1.5), (-0.0, 2.5), (.nan, 3.5), (.nan, 4.5)] {
      context.insert(Weighing(value, at: at))
      try context.save()
    }
    let values = try ModelContext(container).fetch(FetchDescriptor<Weighing>()).map(\.value)
    #expect(values.filter { $0 == 0 }.count == 1)
    #expect(values.filter(\.isNaN).count == 3)
    #expect(values.filter(\.isInfinite).count == 1)
    #expect(Set(values.filter { $0 > 1 && $0 < 5 }) == [2.5, 3.5, 4.5])
  }

  @Test func `holds beside another of the same class`() throws {
    try insert(Flight("AB", 1, code: "x"))
    try insert(Flight("CD", 2, code: "x"))
    #expect(try context.fetch(FetchDescriptor<Flight>()).map(\.carrier) == ["CD"])
  }

  @Test func `and another that lead to two stored models throw, and name both`() throws {
    let day = Date(timeIntervalSinceReferenceDate: 0)
    let first = Flight("AB", 1, day: day)
    let second = Flight("CD", 2, code: "x")
    context.insert(first)
    try insert(second)
    let new = Flight("AB", 1, day: day, code: "x")
    let conflict = try conflict { try insert(new) }
    #expect(conflict.reason == .severalModels)
    #expect([first.persistentModelID, second.persistentModelID].contains(conflict.holder))
    #expect(context.insertedModelsArray.count == 1, "the change stays pending")
    context.delete(new)
    try context.save()
  }

  @Test func `throws for a change that takes the value of another stored model`() throws {
    let one = Account(1)
    let two = Account(2)
    context.insert(one)
    try insert(two)
    two.number = 1
    two.name = "pending"
    let conflict = try conflict { try context.save() }
    #expect(conflict.reason == .update)
    #expect(conflict.model == two.persistentModelID)
    #expect(conflict.holder == one.persistentModelID)
    #expect(conflict.entityName == "Account")
    #expect(conflict.properties == ["number"])
    #expect(context.changedModelsArray.count == 1)
    two.number = 3
    try context.save()
    #expect(two.name == "pending")
  }

  @Test func `lets two models exchange their values`() throws {
    let one = Account(1, "one")
    let two = Account(2, "two")
    context.insert(one)
    try insert(two)
    (one.number, two.number) = (2, 1)
    try context.save()
    let found = try ModelContext(context.container).fetch(
      FetchDescriptor<Account>(sortBy: [SortDescriptor(\.number)])
    )
    #expect(found.map(\.name) == ["two", "one"])
    try insert(Account(1, "new"))
    #expect(two.name == "new")
  }

  @Test func `may have a relationship to one model in it`() throws {
    let odeon = Theatre("Odeon")
    let palace = Theatre("Palace")
    for theatre in [odeon, palace] { context.insert(theatre) }
    try insert(Seat(1, in: odeon))
    try insert(Seat(1, in: palace))
    try insert(Seat(2, in: odeon))
    #expect(try context.fetchCount(FetchDescriptor<Seat>()) == 3)
    let again = Seat(1, in: odeon)
    again.label = "again"
    try insert(again)
    #expect(try context.fetchCount(FetchDescriptor<Seat>()) == 3)
    #expect(odeon.seats.count == 2)
    #expect(odeon.seats.map(\.label) == ["again", ""])
  }

  /// By `@Attribute` as well as by `@Relationship` and `#Unique`.
  @Test func `may be of a relationship to one model`() throws {
    let odeon = Theatre("Odeon")
    context.insert(odeon)
    for label in ["first", "second"] { try insert(Manager(label, of: odeon)) }
    try insert(Manager("without", of: nil))
    try insert(Manager("without, too", of: nil))
    let found = try context.fetch(FetchDescriptor<Manager>(sortBy: [SortDescriptor(\.label)]))
    #expect(found.map(\.label) == ["second", "without", "without, too"])
    let entity = context.container.schema.entity(for: Manager.self)
    #expect(entity?.uniquenessConstraints == [["theatre"]])
    #expect(entity?.relationshipsByName["theatre"]?.isUnique == true)
  }

  /// Two empty lists would be one model.
  @Test func `is none on a list`() throws {
    for number in 0..<3 {
      let box = KeyBox(number)
      if number == 0 { box.keys = [Manager("a", of: nil)] }
      try insert(box)
    }
    #expect(try context.fetchCount(FetchDescriptor<KeyBox>()) == 3)
    let entity = context.container.schema.entity(for: KeyBox.self)
    #expect(entity?.uniquenessConstraints == [])
  }

  @Test func `of a superclass holds across its subclasses`() throws {
    try insert(Vehicle(plate: "A"))
    try insert(Truck(plate: "B", axles: 2))
    let again = Truck(plate: "B", axles: 3)
    try insert(again)
    #expect(try context.fetch(FetchDescriptor<Truck>()).map(\.axles) == [3])
    let conflict = try conflict { try insert(Truck(plate: "A", axles: 2)) }
    #expect(conflict.reason == .otherClass)
    #expect(conflict.entityName == "Vehicle")
  }

  @Test func `may name properties of the superclass`() throws {
    try insert(Truck(plate: "A", axles: 2, color: "red"))
    try insert(Truck(plate: "B", axles: 2, color: "red"))
    #expect(try context.fetch(FetchDescriptor<Truck>()).map(\.plate) == ["B"])
  }

  @Test func `with the policy to throw refuses new models, and keeps them pending`() throws {
    let strict = try makeUniqueContext(.throw)
    let old = Account(1, "old")
    strict.insert(old)
    try strict.save()
    let new = Account(1, "new")
    strict.insert(new)
    let conflict = try conflict { try strict.save() }
    #expect(conflict.reason == .policy)
    #expect(conflict.model == new.persistentModelID)
    #expect(conflict.holder == old.persistentModelID)
    #expect(strict.insertedModelsArray.count == 1)
    new.number = 2
    try strict.save()
    #expect(try strict.fetchCount(FetchDescriptor<Account>()) == 2)
  }

  @Test func `compares texts byte by byte`() throws {
    try insert(Flight("AB", 1, code: "\u{e9}"))
    try insert(Flight("AB", 1, code: "e\u{301}"))
    #expect(try context.fetchCount(FetchDescriptor<Flight>()) == 2)
  }

  @Test func `is free again when a save that claimed the value failed`() throws {
    let one = Account(1)
    let two = Account(2)
    context.insert(one)
    try insert(two)
    two.number = 1
    context.insert(Account(3, "first"))
    #expect(throws: SwiftDataError.self) { try context.save() }
    let other = ModelContext(context.container)
    other.insert(Account(3, "second"))
    try other.save()
    #expect(try other.fetchCount(FetchDescriptor<Account>()) == 3)
  }

  @Test func `holds for saves of several threads at once`() async throws {
    let container = context.container
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          let context = ModelContext(container)
          for number in 0..<200 {
            context.insert(Account(number, "\(task)"))
            try context.save()
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try context.fetchCount(FetchDescriptor<Account>()) == 200)
  }

  /// The conflict that a save throws.
  func conflict(_ body: () throws -> Void) throws -> UniquenessConflict {
    let error = try #require(throws: SwiftDataError.self, performing: body)
    #expect(error == .modelValidationFailure)
    return try #require(error.underlyingError as? UniquenessConflict)
  }
}

@Suite struct `A save that fails after values were merged` {
  @Test func `leaves the models as they were`() throws {
    let context = try makeUniqueContext()
    let card = Card("1111")
    let one = Account(1, "one")
    one.card = card
    one.entries = [Entry(1)]
    let two = Account(2, "two")
    context.insert(one)
    context.insert(two)
    try context.save()

    one.note = "pending"
    let new = Account(1, "new")
    new.card = Card("2222")
    new.entries = [Entry(2)]
    context.insert(new)
    // The upsert would go through; this cannot.
    let strange = Account(3)
    context.insert(strange)
    two.number = 3
    strange.number = 4
    two.number = 1
    #expect(throws: SwiftDataError.self) { try context.save() }

    #expect(one.name == "one")
    #expect(one.note == "pending")
    #expect(one.card === card)
    #expect(card.account === one)
    #expect(one.entries.map(\.amount) == [1])
    #expect(new.entries.map(\.amount) == [2])
    #expect(new.persistentModelID.isTemporary)
    #expect(context.insertedModelsArray.contains { $0 === new })

    two.number = 2
    try context.save()
    #expect(one.name == "new")
    #expect(one.note == nil)
    #expect(one.entries.map(\.amount) == [1, 2])
    #expect(one.card?.digits == "2222")
    #expect(card.account == nil)
  }
}

@Model final class Weighing {
  @Attribute(.unique) var value: Double
  @Attribute(.unique) var at: Date?

  init(_ value: Double, at: Double? = nil) {
    self.value = value
    self.at = at.map { Date(timeIntervalSinceReferenceDate: $0) }
  }
}

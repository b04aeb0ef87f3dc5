import Foundation
import SchedulePoints
import SwiftData
import Synchronization
import Testing

@testable import LogStore
@testable import ModelRuntime

@Model private final class Roundhouse {
  var number: Int
  @Relationship(inverse: \Railcar.home) var wagons: [Railcar] = []
  @Relationship(deleteRule: .cascade, inverse: \Railcar.visits) var guests: [Railcar] = []
  @Relationship(inverse: \Nameplate.depot) var plate: Nameplate?
  init(_ number: Int) { self.number = number }
}

@Model private final class Railcar {
  @Attribute(.unique) var number: Int
  var home: Roundhouse?
  var visits: [Roundhouse] = []
  init(_ number: Int) { self.number = number }
}

@Model private final class Nameplate {
  var number: Int
  var depot: Roundhouse?
  init(_ number: Int) { self.number = number }
}

@Suite struct `Redoing a saved insertion of a model that others have related meanwhile` {
  enum Inserted: CaseIterable { case depot, wagon, plate }

  /// How another context relates the model.
  enum Relating: CaseIterable {
    case home, wagons, guests, visits, plate, depot, newMember, newPlate
  }

  @Test(arguments: Inserted.allCases, Relating.allCases)
  func `leaves the ends of each relationship as one`(
    inserted: Inserted,
    relating: Relating
  ) throws {
    for savesBetween in [true, false] {
      for isRead in [false, true] {
        try check(inserted, relating, savesBetween: savesBetween, isRead: isRead)
      }
    }
  }

  private func check(
    _ inserted: Inserted,
    _ relating: Relating,
    savesBetween: Bool,
    isRead: Bool
  ) throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    context.undoManager = UndoManager()
    if isRead { _ = try StationView(of: context) }
    switch inserted {
    case .depot: context.insert(Roundhouse(2))
    case .wagon: context.insert(Railcar(30))
    case .plate: context.insert(Nameplate(19))
    }
    try context.save()
    let other = ModelContext(container)
    try relate(relating, in: other)
    try other.save()
    let related = try StationView(of: other)
    if isRead { #expect(try StationView(of: context) == related) }
    context.undoManager?.undo()
    if savesBetween { try context.save() }
    #expect(try StationView(of: context).isSound)
    context.undoManager?.redo()
    #expect(try StationView(of: context) == related, "saved \(savesBetween), read \(isRead)")
    try context.save()
    let stored = try StationView(of: ModelContext(container))
    #expect(stored == related, "\(stored)")
    #expect(try StationView(of: context) == stored)
    #expect(context.invariantViolations() == [])
  }

  private func relate(_ relating: Relating, in context: ModelContext) throws {
    func last<M: PersistentModel>(_ model: M.Type, by number: any KeyPath<M, Int> & Sendable) throws
      -> M
    {
      let all = FetchDescriptor<M>(sortBy: [SortDescriptor(number)])
      return try #require(try context.fetch(all).last)
    }
    let depot = try last(Roundhouse.self, by: \.number)
    let wagon = try last(Railcar.self, by: \.number)
    let plate = try last(Nameplate.self, by: \.number)
    switch relating {
    case .home: wagon.home = depot
    case .wagons: depot.wagons.append(wagon)
    case .guests: depot.guests.append(wagon)
    case .visits: wagon.visits = [depot]
    case .plate: depot.plate = plate
    case .depot: plate.depot = depot
    case .newMember:
      let new = Railcar(40)
      depot.wagons.append(new)
      depot.guests.append(new)
    case .newPlate: depot.plate = Nameplate(41)
    }
  }
}

@Suite struct `Undoing and redoing many insertions of models that others have put into one list` {
  @Test(arguments: [false, true])
  func `goes through the list a few times`(savesBetween: Bool) throws {
    // More models than a context keeps the lists of.
    let count = 3000
    let container = try makeContainer()
    let context = ModelContext(container)
    let depot = try #require(try context.fetch(FetchDescriptor<Roundhouse>()).first)
    context.undoManager = UndoManager()
    for number in 0..<count { context.insert(Railcar(10 + number)) }
    try context.save()
    let other = ModelContext(container)
    let all = try other.fetch(FetchDescriptor<Railcar>())
    try other.fetch(FetchDescriptor<Roundhouse>()).first?.guests = all
    try other.save()
    let related = try StationView(of: other)
    #expect(depot.guests.count == count + 1)
    let property = try #require(
      depot._$state.descriptor.properties.first { $0.name == "guests" }
    )
    let list = try #require(depot._$state.relatedModels(property))
    let former = list.stepCount
    context.undoManager?.undo()
    #expect(depot.guests.map(\.number) == [5])
    if savesBetween { try context.save() }
    context.undoManager?.redo()
    try context.save()
    #expect(depot.guests.count == count + 1)
    #expect(list.stepCount - former <= 5 * count, "\(list.stepCount - former) steps")
    #expect(try StationView(of: ModelContext(container)) == related)
  }
}

@Suite struct `Redoing one by one that new models join a list, after a save` {
  /// How a new model joins the list.
  enum Joining: CaseIterable { case appended, insertedFirst, byItsOwnEnd }

  /// A list that each step puts together again makes many steps take quadratic time.
  @Test(arguments: Joining.allCases)
  func `reads the list once at most`(joining: Joining) throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    let depot = try #require(try context.fetch(FetchDescriptor<Roundhouse>()).first)
    let manager = UndoManager()
    context.undoManager = manager
    for number in 100..<120 {
      let new = Railcar(number)
      switch joining {
      case .appended: depot.wagons.append(new)
      case .insertedFirst: depot.wagons.insert(new, at: 0)
      case .byItsOwnEnd:
        context.insert(new)
        new.home = depot
      }
      context.processPendingChanges()
    }
    try context.save()
    let members = depot.wagons.map(\.number)
    for _ in 0..<10 { manager.undo() }
    #expect(depot.wagons.count == members.count - 10)
    let readCount = listReadCount {
      for _ in 0..<10 {
        manager.redo()
        _ = depot.wagons.count
      }
    }
    #expect(readCount <= 1)
    #expect(depot.wagons.map(\.number) == members)
    try context.save()
    let again = try #require(
      try ModelContext(container).fetch(FetchDescriptor<Roundhouse>()).first
    )
    #expect(again.wagons.map(\.number) == members)
  }

  /// The number of lists that this thread reads from stores.
  private func listReadCount(in body: () throws -> Void) rethrows -> Int {
    let thread = UInt(bitPattern: Int(bitPattern: pthread_self()))
    let count = Mutex(0)
    let hook = ScheduleHook { reached in
      guard reached == .duringListRead, thread == UInt(bitPattern: Int(bitPattern: pthread_self()))
      else { return }
      count.withLock { $0 += 1 }
    }
    defer { hook.remove() }
    try body()
    return count.withLock { $0 }
  }
}

/// All models of a context with their relationships, from both ends.
private struct StationView: Equatable {
  private var ends: Set<String> = []
  private var otherEnds: Set<String> = []
  private var models: Set<String> = []

  var isSound: Bool { ends == otherEnds }

  init(of context: ModelContext) throws {
    for depot in try context.fetch(FetchDescriptor<Roundhouse>()) {
      models.insert("depot \(depot.number)")
      for wagon in depot.wagons { ends.insert("\(depot.number) home of \(wagon.number)") }
      for wagon in depot.guests { ends.insert("\(depot.number) visited by \(wagon.number)") }
      if let plate = depot.plate { ends.insert("\(depot.number) with \(plate.number)") }
    }
    for wagon in try context.fetch(FetchDescriptor<Railcar>()) {
      models.insert("wagon \(wagon.number)")
      if let depot = wagon.home { otherEnds.insert("\(depot.number) home of \(wagon.number)") }
      for depot in wagon.visits { otherEnds.insert("\(depot.number) visited by \(wagon.number)") }
    }
    for plate in try context.fetch(FetchDescriptor<Nameplate>()) {
      models.insert("plate \(plate.number)")
      if let depot = plate.depot { otherEnds.insert("\(depot.number) with \(plate.number)") }
    }
  }
}

/// A store of one model of each class, which are not related.
private func makeContainer() throws -> ModelContainer {
  let container = try ModelContainer(
    for: Roundhouse.self,
    configurations: ModelConfiguration(isStoredInMemoryOnly: true)
  )
  let context = ModelContext(container)
  context.insert(Roundhouse(1))
  context.insert(Railcar(5))
  context.insert(Nameplate(9))
  try context.save()
  return container
}

@Suite struct `Undoing the delete of one of two models that others have paired` {
  @Test(arguments: [false, true], [false, true])
  func `restores both ends, which were read before`(
    isDepot: Bool,
    savesBetween: Bool
  ) throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    context.undoManager = UndoManager()
    let depot = try #require(try context.fetch(FetchDescriptor<Roundhouse>()).first)
    let plate = try #require(try context.fetch(FetchDescriptor<Nameplate>()).first)
    let other = ModelContext(container)
    let plates = try other.fetch(FetchDescriptor<Nameplate>())
    try other.fetch(FetchDescriptor<Roundhouse>()).first?.plate = plates.first
    try other.save()
    let related = try StationView(of: other)
    if isDepot { context.delete(depot) } else { context.delete(plate) }
    if savesBetween { try context.save() }
    context.undoManager?.undo()
    #expect(try StationView(of: context) == related)
    try context.save()
    #expect(try StationView(of: ModelContext(container)) == related)
  }
}

import Foundation
import SwiftData
import Testing

@testable import LogStore
@testable import ModelRuntime

@Model private final class Ferry {
  var name: String
  @Relationship(inverse: \Mooring.ferry) var moorings: [Mooring] = []
  var stewards: [Steward] = []
  @Relationship(inverse: \Cargo.ferries) var cargo: [Cargo] = []

  init(_ name: String) { self.name = name }
}

@Model private class Mooring {
  var number: Int
  var ferry: Ferry?

  init(_ number: Int, _ ferry: Ferry? = nil) {
    self.number = number
    self.ferry = ferry
  }
}

@Model private final class Stateroom: Mooring {
  var hasWindow = true

  init(number: Int) {
    super.init(number)
  }
}

@Model private final class Steward {
  var number: Int
  init(_ number: Int) { self.number = number }
}

@Model private final class Cargo {
  var number: Int
  var ferries: [Ferry] = []
  init(_ number: Int) { self.number = number }
}

@Model private final class Gull {
  var number: Int
  init(_ number: Int) { self.number = number }
}

@Suite struct `Lists and rows in memory beside saves of others` {
  private let container: ModelContainer
  private let context: ModelContext
  private let ferry: Ferry

  init() throws {
    container = try ModelContainer(
      for: Ferry.self,
      Stateroom.self,
      Gull.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let first = ModelContext(container)
    let new = Ferry("north")
    first.insert(new)
    new.moorings = (0..<100).map { Mooring($0) }
    new.stewards = (0..<100).map { Steward($0) }
    new.cargo = (0..<100).map { Cargo($0) }
    try first.save()
    context = ModelContext(container)
    ferry = try #require(try context.fetch(FetchDescriptor<Ferry>()).first)
  }

  private func other(_ change: (ModelContext, Ferry) throws -> Void) throws {
    let other = ModelContext(container)
    try change(other, #require(try other.fetch(FetchDescriptor<Ferry>()).first))
    try other.save()
    // The context learns of the save.
    _ = try context.fetchCount(FetchDescriptor<Gull>(predicate: #Predicate { $0.number < 0 }))
    _ = try context.fetch(FetchDescriptor<Gull>(predicate: #Predicate { $0.number == -1 }))
  }

  private func list(_ name: String) throws -> RelatedModels {
    let property = try #require(ferry._$state.descriptor.property(named: name))
    return try #require(ferry._$state.relatedModels(property))
  }

  @Test(arguments: ["moorings", "stewards", "cargo"])
  func `stay while none of the classes they come from changes`(name: String) throws {
    let list = try list(name)
    let (epoch, steps) = (context.listEpoch, list.stepCount)
    for number in 0..<200 {
      try other { other, _ in other.insert(Gull(number)) }
      #expect(try self.list(name) === list)
    }
    #expect(context.listEpoch > epoch + 100)
    #expect(list.stepCount == steps)
    #expect(list.count == 100)
  }

  @Test
  func
    `stay while others change attributes of the members, and learn of the next that comes or goes`()
    throws
  {
    let list = try list("moorings")
    for number in 0..<20 {
      let steps = list.stepCount
      try other { _, ferry in ferry.moorings[number].number += 1000 }
      try other { other, _ in other.insert(Mooring(-1)) }
      #expect(ferry.moorings.count == 100 + number)
      #expect(list.stepCount == steps)
      try other { other, ferry in
        switch number % 4 {
        case 0: Stateroom(number: 500).ferry = ferry
        case 1: ferry.moorings.swapAt(3, 50)
        case 2: ferry.moorings.remove(at: 30)
        default: other.delete(ferry.moorings[40])
        }
        // As many are left as the next step expects.
        let missing = 101 + number - ferry.moorings.count { !$0.isDeleted }
        for _ in 0..<missing { Mooring(2000).ferry = ferry }
      }
      let stored = try #require(try ModelContext(container).fetch(FetchDescriptor<Ferry>()).first)
      #expect(
        ferry.moorings.map(\.persistentModelID) == stored.moorings.map(\.persistentModelID)
      )
    }
  }

  @Test func `are read again once another has changed the members`() throws {
    #expect(ferry.moorings.count == 100 && ferry.stewards.count == 100 && ferry.cargo.count == 100)
    try other { other, ferry in
      other.insert(Gull(1))
      Stateroom(number: 100).ferry = ferry
    }
    #expect(ferry.moorings.map(\.number) == Array(0...100))
    try other { other, ferry in other.delete(ferry.moorings[0]) }
    #expect(ferry.moorings.map(\.number) == Array(1...100))
    try other { other, ferry in other.delete(ferry.stewards[5]) }
    #expect(ferry.stewards.map(\.number) == Array(0..<5) + Array(6..<100))
    try other { _, ferry in ferry.stewards.swapAt(0, 1) }
    #expect(ferry.stewards.map(\.number).prefix(2) == [1, 0])
    try other { other, ferry in other.delete(ferry.cargo[7]) }
    try other { _, ferry in ferry.cargo.removeLast() }
    #expect(ferry.cargo.map(\.number) == Array(0..<7) + Array(8..<99))
  }

  @Test func `are read again after a save that the context has not noticed yet`() throws {
    #expect(ferry.moorings.count == 100)
    let second = ModelContext(container)
    let same = try #require(try second.fetch(FetchDescriptor<Ferry>()).first)
    Mooring(100).ferry = same
    try second.save()
    second.insert(Gull(0))
    try second.save()
    // Its own save is in between: what it saw before that does not last.
    context.insert(Gull(1))
    try context.save()
    #expect(ferry.moorings.map(\.number) == Array(0...100))
  }

  @Test func `are read again after a rollback`() throws {
    let mooring = ferry.moorings[3]
    try other { other, _ in other.insert(Gull(1)) }
    mooring.ferry = nil
    #expect(ferry.moorings.count == 99)
    try other { other, _ in other.insert(Gull(2)) }
    context.rollback()
    try other { other, _ in other.insert(Gull(3)) }
    #expect(ferry.moorings.map(\.number) == Array(0..<100))
  }

  @Test func `are those of the state that a context of the past is moved to, and back`() throws {
    func token() throws -> DefaultHistoryToken {
      let history = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
      return try #require(history.last).token
    }
    let first = try token()
    try other { other, ferry in
      other.delete(ferry.moorings[0])
      ferry.stewards.removeLast()
      ferry.cargo.removeLast()
    }
    let second = try token()
    let past = try ModelContext(container, asOf: first)
    let earlier = try #require(try past.fetch(FetchDescriptor<Ferry>()).first)
    for _ in 0..<2 {
      try past.show(asOf: first)
      #expect(earlier.moorings.count == 100)
      #expect(earlier.stewards.count == 100 && earlier.cargo.count == 100)
      try past.show(asOf: second)
      #expect(earlier.moorings.count == 99)
      #expect(earlier.stewards.count == 99 && earlier.cargo.count == 99)
    }
  }

  @Test func `lose at the save what was added to them and others have deleted`() throws {
    let steward = Steward(1000)
    context.insert(steward)
    try context.save()
    let name = steward.persistentModelID
    #expect(ferry.stewards.count == 100)
    let second = ModelContext(container)
    let same = try #require(
      try second.fetch(FetchDescriptor<Steward>()).first {
        $0.persistentModelID == name
      }
    )
    second.delete(same)
    try second.save()
    ferry.stewards.append(steward)
    try context.save()
    #expect(ferry.stewards.map(\.number) == Array(0..<100))
    #expect(steward.isDeleted)
  }

  @Test func `stay after a rollback of what was added to them`() throws {
    let list = try list("moorings")
    let steps = list.stepCount
    for number in 0..<10 {
      ferry.moorings.append(Mooring(1000 + number))
      _ = Mooring(2000 + number, ferry)
      #expect(ferry.moorings.count == 102)
      context.rollback()
      #expect(try self.list("moorings") === list)
      #expect(ferry.moorings.map(\.number) == Array(0..<100))
      #expect(context.invariantViolations() == [])
    }
    #expect(list.stepCount - steps < 1000)
    // What others do is seen then.
    try other { _, ferry in ferry.moorings.removeFirst() }
    #expect(ferry.moorings.count == 99)
    // Members that left come back.
    ferry.moorings.append(Mooring(3000))
    ferry.moorings.removeFirst()
    context.rollback()
    #expect(ferry.moorings.map(\.number) == Array(1..<100))
  }

  @Test(arguments: [false, true])
  func `have the member after a rollback that both have added and this one has removed`(
    atTheOtherEnd: Bool
  ) throws {
    context.insert(Mooring(1000))
    try context.save()
    let wanted = FetchDescriptor<Mooring>(predicate: #Predicate { $0.number == 1000 })
    let mooring = try #require(try context.fetch(wanted).first)
    #expect(ferry.moorings.count == 100)
    if atTheOtherEnd { mooring.ferry = ferry } else { ferry.moorings.append(mooring) }
    try other { other, ferry in ferry.moorings += try other.fetch(wanted) }
    #expect(ferry.moorings.count == 101)
    ferry.moorings.removeAll { $0 === mooring }
    context.rollback()
    #expect(ferry.moorings.map(\.number) == Array(0..<100) + [1000])
    #expect(mooring.ferry === ferry)
  }

  @Test func `are the same at the next look where members were deleted`() throws {
    #expect(ferry.moorings.count == 100)
    try other { other, ferry in other.delete(ferry.moorings[0]) }
    let list = try list("moorings")
    let steps = list.stepCount
    #expect(ferry.moorings.count == 99)
    #expect(list.isCurrent(at: context.listEpoch))
    #expect(list.stepCount == steps)
  }

  @Test func `are those of changed models that nobody else has changed`() throws {
    let moorings = ferry.moorings
    for mooring in moorings { mooring.number += 1000 }
    let states = moorings.map { $0._$state }
    try other { other, _ in other.insert(Gull(1)) }
    #expect(states.allSatisfy { $0.rowEpoch != context.listEpoch })
    #expect(!states.contains { context.hasOutdatedRow($0) })
    try other { _, ferry in ferry.moorings[0].number = -1 }
    #expect(states.allSatisfy { context.hasOutdatedRow($0) })
  }

  @Test(arguments: 1...3 as ClosedRange<UInt64>)
  func `are as in a new context, whatever is saved where`(seed: UInt64) throws {
    var random = SeededNumbers(seed: seed)
    let others = [ModelContext(container), ModelContext(container)]
    others[0].automaticallyMergesChanges = true
    for step in 0..<300 {
      let other = others[Int(random.next() % 2)]
      let same = try #require(try other.fetch(FetchDescriptor<Ferry>()).first)
      switch random.next() % 10 {
      case 0: Mooring(1000 + step).ferry = same
      case 1: if let last = same.moorings.last { other.delete(last) }
      case 2: if same.moorings.count > 9 { same.moorings.swapAt(2, 8) }
      case 3: same.stewards.insert(Steward(1000 + step), at: 0)
      case 4: if let first = same.stewards.first { other.delete(first) }
      case 5: same.cargo.append(Cargo(1000 + step))
      case 6: if let first = same.cargo.first { first.ferries = [] }
      case 7: same.moorings.last?.ferry = nil
      default: other.insert(Gull(step))
      }
      try other.save()
      if random.next() % 4 == 0 { ferry.moorings.append(Mooring(5000 + step)) }
      if random.next() % 4 == 0 { try context.save() }
      if random.next() % 8 == 0 { context.rollback() }
      if context.hasChanges { continue }
      _ = try context.fetch(FetchDescriptor<Gull>(predicate: #Predicate { $0.number == -1 }))
      let new = ModelContext(container)
      let stored = try #require(try new.fetch(FetchDescriptor<Ferry>()).first)
      #expect(
        ferry.moorings.map(\.number) == stored.moorings.map(\.number),
        "seed \(seed), step \(step)"
      )
      #expect(
        ferry.stewards.map(\.number) == stored.stewards.map(\.number),
        "seed \(seed), step \(step)"
      )
      #expect(
        ferry.cargo.map(\.number) == stored.cargo.map(\.number),
        "seed \(seed), step \(step)"
      )
    }
  }
}

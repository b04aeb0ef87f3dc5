import Foundation
import LogStore
import Observation
import SchedulePoints
import SwiftData
import Synchronization
import Testing

@Model private final class Berth {
  var name: String
  @Relationship(inverse: \Ferry.berth) var ferries: [Ferry] = []

  init(_ name: String) { self.name = name }
}

@Model private final class Ferry {
  var number: Int
  var note = ""
  var berth: Berth?
  var flags: [Jack] = []
  var label: String { "ferry \(number)" }

  init(_ number: Int) { self.number = number }
}

@Model private final class Jack {
  var color: String
  @Relationship(inverse: \Ferry.flags) var ferries: [Ferry] = []

  init(_ color: String) { self.color = color }
}

/// Each save of the others exchanges the berths and the jacks of two ferries.
///
/// So at any time five ferries have each. Some of them have unsaved notes here.
@Suite struct `A question about models with unsaved changes, and what they lead to` {
  private let container: ModelContainer
  private let context: ModelContext

  init() throws {
    container = try ModelContainer(
      for: Berth.self,
      Ferry.self,
      Jack.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let filling = ModelContext(container)
    let berths = ["east", "west"].map { Berth($0) }
    let jacks = ["red", "blue"].map { Jack($0) }
    for number in 0..<10 {
      let ferry = Ferry(number)
      filling.insert(ferry)
      ferry.berth = berths[number % 2]
      ferry.flags = [jacks[number % 2]]
    }
    try filling.save()
    context = ModelContext(container)
  }

  private static func exchange(_ first: Int, _ second: Int, in container: ModelContainer) throws {
    let other = ModelContext(container)
    let ferries = try other.fetch(
      FetchDescriptor<Ferry>(
        predicate: #Predicate { $0.number == first || $0.number == second },
        sortBy: [SortDescriptor(\.number)]
      )
    )
    (ferries[0].berth, ferries[1].berth) = (ferries[1].berth, ferries[0].berth)
    (ferries[0].flags, ferries[1].flags) = (ferries[1].flags, ferries[0].flags)
    try other.save()
  }

  @Test(arguments: [0, 1, 5, 10], [false, true])
  func `is answered as of one commit, although others save meanwhile`(
    unsavedCount: Int,
    merges: Bool
  ) throws {
    context.automaticallyMergesChanges = merges
    var kept: [any PersistentModel] = try context.fetch(FetchDescriptor<Berth>())
    kept += try context.fetch(FetchDescriptor<Jack>())
    let ferries = try context.fetch(FetchDescriptor<Ferry>(sortBy: [SortDescriptor(\.number)]))
    for ferry in ferries { #expect(ferry.berth != nil && ferry.flags.count == 1) }
    for ferry in ferries.prefix(unsavedCount) { ferry.note = "unsaved" }
    let east = FetchDescriptor<Ferry>(predicate: #Predicate { $0.berth?.name == "east" })
    let red = FetchDescriptor<Ferry>(
      predicate: #Predicate { $0.flags.contains { $0.color == "red" } }
    )
    var pair = 0
    func ask<R>(_ question: () throws -> R) throws -> R {
      let (first, second, container) = (pair % 10, (pair + 3) % 10, container)
      pair += 1
      return try atFirst(.duringFetch) {
        try Self.exchange(first, second, in: container)
      } during: {
        try question()
      }
    }
    for _ in 0..<6 {
      #expect(try ask { try context.fetch(east).count } == 5)
      #expect(try ask { try context.fetchCount(east) } == 5)
      #expect(try ask { try context.fetchIdentifiers(east).count } == 5)
      #expect(try ask { try context.fetch(red).count } == 5)
      #expect(try ask { try context.fetchCount(red) } == 5)
      #expect(try context.aggregate(red, .count) == 5)
      let groups = try context.aggregate(FetchDescriptor<Ferry>(), by: \.berth?.name, .count)
      #expect(groups.map(\.values) == [5, 5])
    }
    // What was read meanwhile is not taken for newer than it was.
    let fresh = ModelContext(container)
    let expected = try fresh.fetch(FetchDescriptor<Ferry>(sortBy: [SortDescriptor(\.number)]))
    let shown = try context.fetch(FetchDescriptor<Ferry>(sortBy: [SortDescriptor(\.number)]))
    #expect(shown.map { $0.berth?.name } == expected.map { $0.berth?.name })
    #expect(shown.map { $0.flags.map(\.color) } == expected.map { $0.flags.map(\.color) })
    #expect(kept.count == 4)
  }

  /// The context does not merge, and holds objects of the berths with their former names.
  @Test(arguments: [0, 1, 10])
  func `is about what others have saved of models that these lead to`(unsavedCount: Int) throws {
    let berths = try context.fetch(FetchDescriptor<Berth>(sortBy: [SortDescriptor(\.name)]))
    let ferries = try context.fetch(FetchDescriptor<Ferry>(sortBy: [SortDescriptor(\.number)]))
    for ferry in ferries { #expect(ferry.berth != nil) }
    for ferry in ferries.prefix(unsavedCount) { ferry.note = "unsaved" }
    let new = Ferry(10)
    if unsavedCount > 0 {
      context.insert(new)
      new.berth = berths[0]
    }
    let other = ModelContext(container)
    let east = FetchDescriptor<Berth>(predicate: #Predicate { $0.name == "east" })
    try #require(try other.fetch(east).first).name = "zenith"
    try other.save()

    let count = unsavedCount > 0 ? 6 : 5
    let byName = FetchDescriptor<Ferry>(
      sortBy: [SortDescriptor(\.berth?.name), SortDescriptor(\.number)]
    )
    let order = [1, 3, 5, 7, 9, 0, 2, 4, 6, 8] + (unsavedCount > 0 ? [10] : [])
    #expect(try context.fetch(byName).map(\.number) == order)
    #expect(try context.fetch(byName, \.number) == order)
    let names = try context.fetch(byName, \Ferry.berth?.name)
    #expect(names.last == .some("zenith"))
    var last = byName
    last.fetchOffset = 5
    last.fetchLimit = 3
    #expect(try context.fetch(last).map(\.number) == [0, 2, 4])
    #expect(try context.distinct(\Ferry.berth?.name, in: last) == ["zenith"])
    #expect(try context.distinct(\Ferry.berth?.name) == ["west", "zenith"])
    let groups = try context.aggregate(FetchDescriptor<Ferry>(), by: \.berth?.name, .count)
    #expect(groups.map(\.values) == [5, count])
    // What changed here is sorted in by what stored models lead to.
    ferries[1].berth = berths[0]
    ferries[1].berth = berths[1]
    #expect(try context.fetch(byName).map(\.number) == order)
    let computed = FetchDescriptor<Ferry>(
      predicate: #Predicate { $0.label != "" && $0.berth?.name == "zenith" }
    )
    #expect(try context.fetch(computed).count == count)
    #expect(try context.fetchCount(computed) == count)
  }

  @Test(arguments: [false, true])
  func `is about what others have saved of the members of their lists`(isUnsaved: Bool) throws {
    let berths = try context.fetch(FetchDescriptor<Berth>())
    for ferry in berths.flatMap(\.ferries) { #expect(ferry.flags.count == 1) }
    if isUnsaved { for berth in berths { berth.name += "!" } }
    let other = ModelContext(container)
    let third = FetchDescriptor<Ferry>(predicate: #Predicate { $0.number == 3 })
    try #require(try other.fetch(third).first).number = 33
    try other.save()
    let red = FetchDescriptor<Jack>(predicate: #Predicate { $0.color == "red" })
    try #require(try other.fetch(red).first).color = "green"
    try other.save()

    func count(_ predicate: Predicate<Berth>) throws -> Int {
      let fetch = FetchDescriptor(predicate: predicate)
      let count = try context.fetchCount(fetch)
      #expect(try context.fetch(fetch).count == count)
      return count
    }
    let isThere = try count(
      #Predicate { $0.name != "" && $0.ferries.contains { $0.number == 33 } }
    )
    #expect(isThere == 1)
    let isGone = try count(#Predicate { $0.name != "" && $0.ferries.contains { $0.number == 3 } })
    #expect(isGone == 0)
    let isGreen = try count(
      #Predicate {
        $0.name != "" && $0.ferries.contains { $0.flags.contains { $0.color == "green" } }
      }
    )
    #expect(isGreen == 1)
    let isRed = try count(
      #Predicate {
        $0.name != "" && $0.ferries.contains { $0.flags.contains { $0.color == "red" } }
      }
    )
    #expect(isRed == 0)
  }

  /// Observers are told at once of what the question reads again.
  @Test func `lets a callback read what it has just saved through another context`() throws {
    let berths = try context.fetch(FetchDescriptor<Berth>())
    for ferry in try context.fetch(FetchDescriptor<Ferry>()) {
      #expect(ferry.berth != nil)
      ferry.note = "unsaved"
    }
    // While a berth is unsaved, ferries with unsaved changes are tested as objects.
    context.insert(Berth("new"))
    let counting = ModelContext(container)
    let third = FetchDescriptor<Ferry>(predicate: #Predicate { $0.note == "counter" })
    counting.insert(Ferry(0))
    try #require(counting.insertedModelsArray.first as? Ferry).note = "counter"
    try counting.save()
    nonisolated(unsafe) let counter = try #require(try counting.fetch(third).first)
    let other = ModelContext(container)
    let berth = try #require(try other.fetch(FetchDescriptor<Berth>()).first)
    let told = Mutex(0)
    for round in 1...20 {
      withObservationTracking {
        for berth in berths { #expect(!berth.name.isEmpty) }
      } onChange: {
        told.withLock { $0 += 1 }
        counter.number += 1
        do { try counter.modelContext?.save() } catch { Issue.record(error) }
      }
      berth.name = "east \(round)"
      try other.save()
      let name = berth.name
      let moored = FetchDescriptor<Ferry>(predicate: #Predicate { $0.berth?.name == name })
      #expect(try context.fetchCount(moored) == 5)
    }
    #expect(told.withLock { $0 } == 20)
    #expect(counter.number == 20)
    #expect(try ModelContext(container).fetch(third).map(\.number) == [20])
  }

  /// Rows that a list has read again may say that their models have left it by now.
  @Test func `does not show a list whose members are elsewhere`() throws {
    let berths = try context.fetch(FetchDescriptor<Berth>(sortBy: [SortDescriptor(\.name)]))
    let ferries = try context.fetch(FetchDescriptor<Ferry>(sortBy: [SortDescriptor(\.number)]))
    #expect(berths.map(\.ferries.count) == [5, 5])
    #expect(ferries.allSatisfy { $0.berth != nil })
    for round in 0..<5 {
      try Self.exchange(round, round + 1, in: container)
      // The context learns that there was a commit.
      _ = try context.fetch(FetchDescriptor<Jack>())
      let container = container
      let list = try atFirst(.duringListRead) {
        try Self.exchange(round, round + 1, in: container)
      } during: {
        berths[round % 2].ferries
      }
      #expect(list.count == 5)
      #expect(list.allSatisfy { $0.berth === berths[round % 2] }, "in round \(round)")
    }
    #expect(berths.map(\.ferries.count) == [5, 5])
    for berth in berths { #expect(berth.ferries.allSatisfy { $0.berth === berth }) }
  }
}

import Foundation
import SchedulePoints
import SwiftData
import Synchronization
import Testing

@testable import ModelRuntime

@Model private final class Purse {
  var owner: String
  var amount: Int
  init(_ owner: String, _ amount: Int) {
    self.owner = owner
    self.amount = amount
  }
}

@Suite struct `Models that a context has merged` {
  private let container: ModelContainer
  private let other: ModelContext
  private let purses: [Purse]

  init() throws {
    container = try ModelContainer(
      for: Purse.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    other = ModelContext(container)
    purses = [Purse("a", 100), Purse("b", 100), Purse("c", 100)]
    for purse in purses { other.insert(purse) }
    try other.save()
  }

  private func move(_ amount: Int) throws {
    purses[0].amount -= amount
    purses[1].amount += amount
    try other.save()
  }

  private static var sorted: FetchDescriptor<Purse> {
    FetchDescriptor(sortBy: [SortDescriptor(\.owner)])
  }

  @Test func `show one state, though others save between two looks`() throws {
    let context = ModelContext(container)
    context.automaticallyMergesChanges = true
    let held = try context.fetch(Self.sorted)
    #expect(held.map(\.amount) == [100, 100, 100])
    try move(10)
    context.processPendingChanges()
    let first = held[0].amount
    try move(10)
    let second = held[1].amount
    #expect(first == 90 && second == 110)
    context.processPendingChanges()
    #expect(held.map(\.amount) == [80, 120, 100])
  }

  @Test func `show one state with their unsaved values, though others save between two looks`()
    throws
  {
    let context = ModelContext(container)
    context.automaticallyMergesChanges = true
    let held = try context.fetch(Self.sorted)
    for purse in held { purse.owner += "!" }
    try move(10)
    context.processPendingChanges()
    let first = held[0].amount
    try move(10)
    let second = held[1].amount
    #expect(first == 90 && second == 110)
    #expect(held.map(\.owner) == ["a!", "b!", "c!"])
    try context.save()
    #expect(
      try other.fetch(Self.sorted).map { "\($0.owner) \($0.amount)" } == [
        "a! 80", "b! 120", "c! 100",
      ]
    )
  }

  @Test func `show one state in an observer`() throws {
    let context = ModelContext(container)
    let observer = try ResultsObserver<Purse, Never>(
      fetchDescriptor: Self.sorted,
      modelContext: context
    )
    let before: [Int] = observer.results.map(\.amount)
    #expect(before == [100, 100, 100])
    try move(10)
    let results = Array(observer.results)
    let first = results[0].amount
    try move(10)
    let second = results[1].amount
    #expect(first == 90 && second == 110)
  }

  @Test func `keep unsaved values, and show the others as they are merged`() throws {
    let context = ModelContext(container)
    context.automaticallyMergesChanges = true
    let held = try context.fetch(Self.sorted)
    #expect(held.map(\.amount) == [100, 100, 100])
    held[0].owner = "mine"
    try move(10)
    context.processPendingChanges()
    #expect(held[0].owner == "mine")
    #expect(held.map(\.amount) == [90, 110, 100])
    try context.save()
    #expect(try other.fetch(Self.sorted).map(\.owner) == ["b", "c", "mine"])
  }

  // MARK: Beside saves that have not ended

  /// What a closure sees that takes over one save while the next one is visible, and has not told anybody.
  private func seen<R: Sendable>(
    beside change: () throws -> Void,
    _ look: @escaping () -> R
  ) throws -> R? {
    try move(10)
    let seen = Mutex<R?>(nil)
    // The closure runs on this thread.
    nonisolated(unsafe) let look = look
    try atFirst(.afterCommit) {
      let found = look()
      seen.withLock { $0 = found }
    } during: {
      try change()
    }
    return seen.withLock { $0 }
  }

  @Test func `show all of a save that is visible before it has ended`() throws {
    let context = ModelContext(container)
    context.automaticallyMergesChanges = true
    let held = try context.fetch(Self.sorted)
    #expect(held.map(\.amount) == [100, 100, 100])
    let seen = try seen {
      purses[1].amount -= 5
      purses[2].amount += 5
      try other.save()
    } _: {
      context.processPendingChanges()
      return held.map(\.amount)
    }
    #expect(seen == [90, 105, 105])
    #expect(context.inbox?.hasArrivals() == false)
    context.processPendingChanges()
    #expect(held.map(\.amount) == [90, 105, 105])
  }

  @Test func `show rows in an observer that such a save adds and deletes`() throws {
    let context = ModelContext(container)
    let observer = try ResultsObserver<Purse, Never>(
      fetchDescriptor: Self.sorted,
      modelContext: context
    )
    #expect(observer.results.count == 3)
    let seen = try seen {
      other.insert(Purse("d", 40))
      purses[0].amount += 60
      other.delete(purses[2])
      try other.save()
    } _: {
      observer.results.map { "\($0.owner) \($0.amount)" }
    }
    #expect(seen == ["a 150", "b 110", "d 40"])
    #expect(observer.results.map(\.owner) == ["a", "b", "d"])
  }

  @Test func `show all of a batch that is visible before it has ended`() throws {
    let context = ModelContext(container)
    context.automaticallyMergesChanges = true
    let held = try context.fetch(Self.sorted)
    #expect(held.map(\.amount) == [100, 100, 100])
    let seen = try seen {
      _ = try other.batchUpdate(Purse.self, .set(\.amount, to: 7))
    } _: {
      context.processPendingChanges()
      return held.map(\.amount)
    }
    #expect(seen == [7, 7, 7])
  }

  /// Each save gives all of them one amount, and exchanges one of them.
  @Test(arguments: [false, true])
  func `show one state in an observer beside a thread that saves`(isFiltered: Bool) throws {
    let (container, hasEnded) = (container, SharedFlag())
    let first = try ModelContext(container).fetch(Self.sorted).map(\.amount)
    #expect(first == [100, 100, 100])
    Thread.detachNewThread {
      defer { hasEnded.isSet.store(true, ordering: .releasing) }
      do {
        let context = ModelContext(container)
        for number in 1...1500 {
          let purses = try context.fetch(Self.sorted)
          for purse in purses { purse.amount = number }
          context.delete(purses[number % 3])
          context.insert(Purse("\(number)", number))
          try context.save()
        }
      } catch {
        Issue.record(error)
      }
    }
    var looks = 0
    repeat {
      let context = ModelContext(container)
      let observer = try ResultsObserver<Purse, Never>(
        filterBy: isFiltered ? #Predicate { $0.amount >= 0 } : nil,
        sortBy: [SortDescriptor(\.amount, order: .reverse), SortDescriptor(\.owner)],
        modelContext: context
      )
      let cursor = observer.makeCursor()
      for _ in 0..<100 {
        let amounts: [Int] = observer.results.map(\.amount)
        #expect(amounts.count == 3 && Set(amounts).count == 1, "\(amounts)")
        if looks % 7 == 0 { _ = cursor.advance() }
        looks += 1
      }
    } while !hasEnded.isSet.load(ordering: .acquiring)
  }
}

private final class SharedFlag: Sendable {
  let isSet = Atomic<Bool>(false)
}

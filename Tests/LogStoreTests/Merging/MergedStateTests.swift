import Foundation
import SwiftData
import Testing

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
    purses = [Purse("a", 100), Purse("b", 100)]
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
    #expect(held.map(\.amount) == [100, 100])
    try move(10)
    context.processPendingChanges()
    let first = held[0].amount
    try move(10)
    let second = held[1].amount
    #expect(first == 90 && second == 110)
    context.processPendingChanges()
    #expect(held.map(\.amount) == [80, 120])
  }

  @Test func `show one state in an observer`() throws {
    let context = ModelContext(container)
    let observer = try ResultsObserver<Purse, Never>(
      fetchDescriptor: Self.sorted,
      modelContext: context
    )
    let before: [Int] = observer.results.map(\.amount)
    #expect(before == [100, 100])
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
    #expect(held.map(\.amount) == [100, 100])
    held[0].owner = "mine"
    try move(10)
    context.processPendingChanges()
    #expect(held[0].owner == "mine")
    #expect(held.map(\.amount) == [90, 110])
    try context.save()
    #expect(try other.fetch(Self.sorted).map(\.owner) == ["b", "mine"])
  }
}

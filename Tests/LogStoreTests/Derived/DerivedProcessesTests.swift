import Foundation
import LogEngineTestSupport
import LogStore
import SwiftData
import Testing

private typealias Journey = Deriving.Journey
private typealias Cost = Deriving.Cost

/// Containers that know as little of each other as if each were in a process of its own.
@Suite struct `Derived attributes of several processes` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open() throws -> ModelContainer {
    try ModelContainer(
      for: Schema(Deriving.types),
      configurations: LogStoreConfiguration.ofAnotherProcess(in: folder)
    )
  }

  @Test(arguments: 1...3 as ClosedRange<UInt64>)
  func `count what each of them saves to one list`(seed: UInt64) async throws {
    let containers = try (0..<3).map { _ in try open() }
    let context = ModelContext(containers[0])
    for name in ["a", "b"] { context.insert(Journey(name)) }
    try context.save()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (number, container) in containers.enumerated() {
        group.addTask {
          try Self.run(container, number, SeededGenerator(seed: seed).forked(UInt64(number)))
        }
      }
      try await group.waitForAll()
    }
    for container in containers {
      let context = ModelContext(container)
      for trip in try context.fetch(FetchDescriptor<Journey>()) {
        #expect(trip.expenseCount == trip.expenses.count, "seed \(seed)")
        #expect(trip.total == trip.expenses.map(\.amount).reduce(0, +), "seed \(seed)")
        #expect(trip.weight == trip.expenses.map(\.weight).reduce(0, +), "seed \(seed)")
      }
    }
  }

  /// Inserts, moves, changes and deletes members of its own, so that no save fails.
  private static func run(
    _ container: ModelContainer,
    _ number: Int,
    _ generator: SeededGenerator
  ) throws {
    var chance = generator
    let context = ModelContext(container)
    for _ in 0..<40 {
      let trips = try context.fetch(FetchDescriptor<Journey>())
      let trip = try #require(trips.randomElement(using: &chance))
      let costs = try context.fetch(FetchDescriptor<Cost>())
      let own = costs.filter { $0.tax == Int8(number) }.randomElement(using: &chance)
      switch Int.random(in: 0..<4, using: &chance) {
      case 0: if let own { context.delete(own) }
      case 1:
        own?.amount += 1
        own?.trip = trip
      default: context.insert(Cost(1, tax: Int8(number), weight: 0.5, of: trip))
      }
      try context.save()
    }
  }
}

import Foundation
import LogEngineTestSupport
import SwiftData
import Testing

@testable import LogStore

private typealias Journey = Deriving.Journey
private typealias Cost = Deriving.Cost
private typealias Escort = Deriving.Escort

/// Threads that change lists, members and owners at full speed, each value compared with a count over the stored rows.
@Suite struct `Derived attributes of threads at full speed` {
  private static let threadCount = 4
  private static let rounds = 60

  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func `are what a count over the stored rows says, after every save`(seed: UInt64) async throws {
    let container = try Deriving.container()
    let context = ModelContext(container)
    for number in 0..<4 {
      context.insert(Journey("\(number)"))
      context.insert(Escort("\(number)"))
    }
    try context.save()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<Self.threadCount {
        group.addTask {
          try await withCheckedThrowingContinuation {
            (done: CheckedContinuation<Void, any Error>) in
            Thread.detachNewThread {
              var chance = SeededGenerator(seed: seed &* 100 &+ UInt64(number))
              done.resume(with: Result { try run(container, &chance, seed) })
            }
          }
        }
      }
      try await group.waitForAll()
    }
    for trip in try ModelContext(container).fetch(FetchDescriptor<Journey>()) {
      #expect(trip.guideCount == trip.guides.count, "seed \(seed)")
      #expect(trip.expenseCount == trip.expenses.count, "seed \(seed)")
    }
  }

  private func run(
    _ container: ModelContainer,
    _ chance: inout SeededGenerator,
    _ seed: UInt64
  ) throws {
    let context = ModelContext(container)
    for _ in 0..<Self.rounds {
      let trips = try context.fetch(FetchDescriptor<Journey>())
      let costs = try context.fetch(FetchDescriptor<Cost>())
      let guides = try context.fetch(FetchDescriptor<Escort>())
      for _ in 0..<Int.random(in: 1...3, using: &chance) {
        let trip = trips.randomElement(using: &chance)
        let cost = costs.randomElement(using: &chance)
        switch Int.random(in: 0..<8, using: &chance) {
        // Sums of these are exact, in whichever order they are added up.
        case 0, 1: trip?.expenses.append(Cost(Int.random(in: -9...9, using: &chance), weight: 0.5))
        case 2: cost?.trip = trip
        case 3:
          cost?.amount += 1
          cost?.weight = 2
        case 4: if let cost, !cost.isDeleted { context.delete(cost) }
        case 5:
          guard let guide = guides.randomElement(using: &chance) else { break }
          trip?.guides.append(guide)
        case 6: trip?.guides.removeAll { _ in Bool.random(using: &chance) }
        default: trip?.name = "Ä\(chance.next() % 100)"
        }
      }
      do {
        try context.save()
      } catch {
        // Another thread has deleted what this one has changed.
        context.rollback()
      }
      for store in container.stores(of: DefaultStore.self) {
        let violations = try store.tables.derivedViolations()
        #expect(violations.isEmpty, "seed \(seed)")
      }
    }
  }
}

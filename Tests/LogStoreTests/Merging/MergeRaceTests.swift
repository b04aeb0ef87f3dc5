import Foundation
import LogEngineTestSupport
import SwiftData
import Synchronization
import Testing

@testable import LogStore

private typealias Page = Merging.Page

/// Threads that read, compute and save at full speed, and what must have come of it.
@Suite struct `Saves of threads at full speed` {
  private static let pageCount = 3
  private static let threadCount = 4
  private static let rounds = 150

  private func container(_ policy: MergePolicy) throws -> ModelContainer {
    let container = try Merging.container(policy)
    let context = ModelContext(container)
    for key in 0..<Self.pageCount { context.insert(Page(key: key)) }
    try context.save()
    return container
  }

  private func total(_ container: ModelContainer) throws -> (visits: Int, score: Double) {
    let pages = try ModelContext(container).fetch(FetchDescriptor<Page>())
    return (pages.map(\.visits).reduce(0, +), pages.map(\.score).reduce(0, +))
  }

  private func concurrently(
    seed: UInt64,
    _ body: @escaping @Sendable (inout SeededGenerator, _ thread: Int) throws -> Void
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<Self.threadCount {
        group.addTask {
          try await withCheckedThrowingContinuation {
            (done: CheckedContinuation<Void, any Error>) in
            Thread.detachNewThread {
              var chance = SeededGenerator(seed: seed &* 100 &+ UInt64(number))
              done.resume(with: Result { try body(&chance, number) })
            }
          }
        }
      }
      try await group.waitForAll()
    }
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func `lose no increment without being told of a conflict`(seed: UInt64) async throws {
    let container = try container(.throw)
    let written = Mutex((visits: 0, score: 0.0))
    try await concurrently(seed: seed) { chance, _ in
      let context = ModelContext(container)
      context.automaticallyMergesChanges = chance.oneIn(2)
      var pages = try context.fetch(FetchDescriptor<Page>())
      for _ in 0..<Self.rounds {
        // A page is used long after it was fetched, or saved, or fetched again with changes pending.
        if chance.oneIn(4) { pages = try context.fetch(FetchDescriptor<Page>()) }
        guard let page = pages.randomElement(using: &chance) else { continue }
        let (visits, score) = (!chance.oneIn(3), chance.oneIn(2))
        if visits { page.visits += 1 }
        if chance.oneIn(5) { _ = try context.fetch(FetchDescriptor<Page>()) }
        if score { page.score += 1 }
        if chance.oneIn(5) { context.processPendingChanges() }
        do {
          try context.save()
          written.withLock {
            $0.visits += visits ? 1 : 0
            $0.score += score ? 1 : 0
          }
        } catch let error as SwiftDataError where error.underlyingError is MergeConflicts {
          context.rollback()
        }
      }
    }
    let found = try total(container)
    let expected = written.withLock { $0 }
    #expect(found.visits == expected.visits && found.score == expected.score, "seed \(seed)")
    // Whether the threads met is up to the machine; these two do.
    let contexts = (0..<2).map { _ in ModelContext(container) }
    let pages = try contexts.map { try $0.fetch(FetchDescriptor<Page>(sortBy: [.init(\.key)])) }
    for page in pages { page[0].visits += 1 }
    try contexts[0].save()
    #expect(throws: SwiftDataError.self) { try contexts[1].save() }
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func `lose no increment that a closure merges`(seed: UInt64) async throws {
    let container = try container(
      .decide { conflict in
        guard let read = conflict.read as? Int, let stored = conflict.stored as? Int,
          let own = conflict.own as? Int
        else { return .own }
        return .value(stored + own - read)
      }
    )
    try await concurrently(seed: seed) { chance, _ in
      let context = ModelContext(container)
      let pages = try context.fetch(FetchDescriptor<Page>())
      for _ in 0..<Self.rounds {
        pages.randomElement(using: &chance)?.visits += 1
        try context.save()
      }
    }
    #expect(try total(container).visits == Self.threadCount * Self.rounds, "seed \(seed)")
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func `lose nothing that is added`(seed: UInt64) async throws {
    let container = try container(.lastWriter)
    let sum = Mutex(0)
    try await concurrently(seed: seed) { chance, number in
      let context = ModelContext(container)
      context.mergePolicy = number == 0 ? .throw : nil
      context.automaticallyMergesChanges = chance.oneIn(2)
      var pages = try context.fetch(FetchDescriptor<Page>())
      for _ in 0..<Self.rounds {
        if chance.oneIn(6) { pages = try context.fetch(FetchDescriptor<Page>()) }
        var added = 0
        for page in pages where chance.oneIn(2) {
          let amount = Int.random(in: -5...5, using: &chance)
          page.add(amount, to: \.visits)
          added += amount
          if chance.oneIn(5) { _ = try context.fetch(FetchDescriptor<Page>()) }
        }
        try context.save()
        sum.withLock { $0 += added }
      }
    }
    #expect(try total(container).visits == sum.withLock { $0 }, "seed \(seed)")
  }

  @Test func `lose nothing that model actors add`() async throws {
    let container = try container(.throw)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        let counter = Counter(modelContainer: container)
        for _ in 0..<50 { group.addTask { try await counter.count() } }
      }
      try await group.waitForAll()
    }
    #expect(try total(container).visits == 200)
  }
}

@ModelActor
private actor Counter {
  func count() throws {
    guard let page = try modelContext.fetch(FetchDescriptor<Merging.Page>()).first else { return }
    page.add(1, to: \.visits)
    try modelContext.save()
  }
}

import Foundation
import LogEngine
import SwiftData
import Synchronization
import Testing

@testable import LogStore

@Model private final class Passage {
  var gate: String
  var toll: Double
  var number: Int
  var ship: UUID

  init(_ gate: String, _ toll: Double, _ number: Int, _ ship: UUID) {
    (self.gate, self.toll, self.number, self.ship) = (gate, toll, number, ship)
  }
}

@Suite struct `Aggregates of many rows` {
  private let folder: TemporaryFolder
  private let container: ModelContainer
  private let tables: TableStore

  /// Rows in packs and in the log, some of them moved there since.
  init() throws {
    folder = try TemporaryFolder()
    var configuration = LogStoreConfiguration(
      url: folder.url.appending(path: "passages.store"),
      durability: .relaxed
    )
    configuration.compaction = .init(.onDemand, historyByteCount: 0)
    container = try ModelContainer(for: Passage.self, configurations: configuration)
    let store = try #require(container.stores(of: LogStore.self).first)
    tables = store.tables
    let context = ModelContext(container)
    for part in 0..<2 {
      var random = SeededRandom(seed: UInt64(part))
      let rows = (0..<10_000).map { number in
        (
          "gate \(number % 7)", Double.random(in: 0...1e6, using: &random), number,
          UUID(uuid: (UInt8(number % 11), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        )
      }
      _ = try context.batchInsert(
        Passage.self,
        \.gate,
        \.toll,
        \.number,
        \.ship,
        rows: rows
      )
      if part == 0 { try store.compact() }
    }
    for passage in try context.fetch(
      FetchDescriptor<Passage>(predicate: #Predicate { $0.number % 97 == 3 })
    ) {
      passage.toll += 1
    }
    try context.save()
  }

  private func answers(_ context: ModelContext, digits: Int = 5) throws -> [String] {
    func text(_ number: Double?) -> String { String(format: "%.\(digits)f", number ?? .nan) }
    let some = FetchDescriptor<Passage>(
      predicate: #Predicate { $0.number > 100 && $0.gate != "gate 5" }
    )
    let groups = try context.aggregate(
      some,
      by: \.gate,
      .count,
      .sum(\.toll),
      .percentile(0.5, \.toll),
      .countDistinct(\.ship),
      .maximum(\.number)
    )
    let all = FetchDescriptor<Passage>()
    let whole = try context.aggregate(
      all,
      .sum(\.toll),
      .standardDeviation(\.toll),
      .minimum(\.gate)
    )
    // Each row has a group of its own, nearly.
    let tolls = try context.aggregate(all, by: \.toll, .count)
    return groups.map { group in
      let (count, sum, median, ships, last) = group.values
      return "\(group.key) \(count) \(text(sum)) \(text(median)) \(ships) \(last ?? -1)"
    } + ["\(text(whole.0)) \(text(whole.1)) \(whole.2 ?? "")"]
      + tolls.map { "\($0.key) \($0.values)" }
  }

  @Test func `are the same by two threads as by one, and each time`() throws {
    let context = ModelContext(container)
    // Some are not saved.
    for passage in try context.fetch(
      FetchDescriptor<Passage>(predicate: #Predicate { $0.number % 501 == 5 })
    ) {
      passage.gate = "gate 0"
    }
    tables.leastSharedRowCount.store(.max, ordering: .relaxed)
    let alone = try answers(context)
    tables.leastSharedRowCount.store(0, ordering: .relaxed)
    #expect(try answers(context) == alone)
    let exact = try answers(context, digits: 17)
    for _ in 0..<5 { #expect(try answers(context, digits: 17) == exact) }
  }

  @Test func `are explained as they are by one thread`() throws {
    func plans() throws -> [QueryPlan.TableAccess] {
      let context = ModelContext(container)
      return try context.explain { _ = try answers(context) }.1.flatMap(\.accesses)
    }
    tables.leastSharedRowCount.store(.max, ordering: .relaxed)
    let alone = try plans()
    tables.leastSharedRowCount.store(0, ordering: .relaxed)
    let together = try plans()
    #expect(alone.map(\.path) == together.map(\.path))
    #expect(alone.map(\.matchCount) == together.map(\.matchCount))
    #expect(alone.map(\.columnRowCount) == together.map(\.columnRowCount))
    #expect(alone.allSatisfy { $0.columnRowCount > 0 })
  }

  @Test(arguments: 0..<20)
  func `have the names that one thread finds, in the same order`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let context = ModelContext(container)
    let least = Double.random(in: 0...1e6, using: &random)
    let (gate, limit) = ("gate \(seed % 8)", Int.random(in: 0...12_000, using: &random))
    let descriptor = FetchDescriptor<Passage>(
      predicate: #Predicate { $0.toll >= least && $0.gate < gate && $0.number < limit }
    )
    func names(by threads: Int) throws -> [PersistentIdentifier] {
      tables.leastSharedRowCount.store(threads == 1 ? .max : 0, ordering: .relaxed)
      return try context.fetchIdentifiers(descriptor)
    }
    let alone = try names(by: 1)
    for _ in 0..<3 { #expect(try names(by: 2) == alone, "seed \(seed)") }
    let updated = try context.batchUpdate(
      Passage.self,
      where: descriptor.predicate,
      .add(0.5, to: \.toll)
    )
    #expect(updated.updatedIdentifiers == alone, "seed \(seed)")
    #expect(try names(by: 2) == names(by: 1), "seed \(seed)")
  }
}

@Suite struct `Work that threads share` {
  private struct Failure: Error {}

  private final class Counter: Sendable {
    let count = Atomic<Int>(0)
  }

  @Test func `is done once, whoever does it`() throws {
    for round in 0..<200 {
      let counter = Counter()
      let work = SharedWork { () -> Int in
        counter.count.add(1, ordering: .relaxed)
        return round
      }
      #expect(try work.result().get() == round)
      #expect(counter.count.load(ordering: .relaxed) == 1)
    }
  }

  @Test func `tells the waiting thread of its error`() {
    #expect(throws: Failure.self) { try SharedWork { throw Failure() }.result().get() }
  }
}

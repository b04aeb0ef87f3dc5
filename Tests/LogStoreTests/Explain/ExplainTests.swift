import Foundation
import LogEngine
import ModelRuntime
import SwiftData
import Synchronization
import Testing

@testable import LogStore

@Model final class Depot {
  #Index<Depot>([\.number], [\.code])
  var number: Int
  var code: String
  var town: String
  var size: Double
  var note: String?
  @Relationship(inverse: \Crate.depot) var crates: [Crate] = []

  /// Not stored: a predicate that asks for it needs objects.
  var isRoman: Bool { town == "Rome" }

  init(_ number: Int) {
    self.number = number
    code = "\(number)"
    town = ["Oslo", "Rome", "Kyiv", "Lima"][number % 4]
    size = Double(number) / 2
  }
}

@Model final class Crate {
  var label: String
  var depot: Depot?

  init(_ label: String) { self.label = label }
}

@Suite struct `A plan of a query` {
  private let folder: TemporaryFolder
  private let context: ModelContext
  private let count = 20_000

  init() throws {
    folder = try TemporaryFolder()
    var configuration = LogStoreConfiguration(
      url: folder.url.appending(path: "depots.store"),
      durability: .relaxed
    )
    configuration.compaction = .init(.onDemand, historyByteCount: 0)
    let container = try ModelContainer(for: Depot.self, Crate.self, configurations: configuration)
    let writer = ModelContext(container)
    for number in 0..<count { writer.insert(Depot(number)) }
    let crate = Crate("first")
    writer.insert(crate)
    crate.depot = writer.insertedModelsArray.first as? Depot
    try writer.save()
    context = ModelContext(container)
  }

  private func compact() throws {
    let store = try #require(context.container.stores(of: LogStore.self).first)
    try store.compact()
    #expect(!store.statistics().packs.isEmpty)
  }

  private typealias Path = QueryPlan.TableAccess.Path

  @Test func `names the index that led to the rows, and what was read of them`() throws {
    let plan = try context.explain(
      FetchDescriptor<Depot>(predicate: #Predicate { $0.number >= 100 && $0.number < 110 })
    )
    let access = try #require(plan.accesses.first)
    #expect(plan.accesses.count == 1)
    #expect(access.path == .index(["number"]))
    #expect(access.candidateCount == 10)
    #expect(access.rowCount == count)
    #expect(access.readRowCount == 10)
    #expect(access.readRowByteCount > 10 * 20)
    #expect(access.matchCount == 10)
    #expect(plan.objectCount == 10)
    #expect(plan.resultCount == 10)
    #expect(plan.filteredBy == .store)
    #expect(plan.predicate == "number >= 100 && number < 110")
    let kinds = plan.steps.map(\.kind)
    #expect(kinds == [.plan, .read, .objects])
    #expect(plan.duration >= plan.steps.map(\.duration).max() ?? .zero)
  }

  @Test func `follows an index of texts where they are sorted by their codes`() throws {
    var descriptor = FetchDescriptor<Depot>(sortBy: [SortDescriptor(\.code, comparator: .lexical)])
    descriptor.fetchLimit = 10
    let access = try #require(context.explain(descriptor).accesses.first)
    #expect(access.path == .indexOrder(["code"]))
    #expect(access.readRowCount <= 11)
  }

  @Test func `says that objects were there already`() throws {
    let descriptor = FetchDescriptor<Depot>(predicate: #Predicate { $0.number == 7 })
    let held = try context.fetch(descriptor)
    let plan = try context.explain(descriptor)
    #expect(plan.objectCount == 0)
    #expect(plan.resultCount == held.count)
  }

  @Test func `counts the blocks whose bounds left them out`() throws {
    try compact()
    let limit = Double(count) / 2 - 10
    let plan = try context.explain(
      FetchDescriptor<Depot>(predicate: #Predicate { $0.size > limit })
    )
    let access = try #require(plan.accesses.first)
    #expect(access.path == .columns(["size"]))
    #expect(access.matchCount == 19)
    #expect(access.prunedBlockCount > 0, "\(plan)")
    #expect(access.columnRowCount < count)
  }

  @Test func `tells the ways of counts, aggregates, columns and identifiers`() throws {
    try compact()
    let rome = FetchDescriptor<Depot>(predicate: #Predicate { $0.town == "Rome" })
    let (_, plans) = try context.explain {
      _ = try context.fetchCount(FetchDescriptor<Depot>())
      _ = try context.fetchCount(rome)
      _ = try context.aggregate(rome, by: \.number, .average(\.size))
      _ = try context.fetch(rome, \.number)
      _ = try context.fetchIdentifiers(rome)
    }
    #expect(plans.map(\.question) == [.count, .count, .aggregate, .columns, .identifiers])
    #expect(plans[0].accesses.map(\.path) == [.rowCount])
    #expect(plans[0].resultCount == count)
    for plan in plans.dropFirst() {
      #expect(plan.accesses.first?.matchCount == count / 4, "\(plan)")
      #expect(plan.objectCount == 0)
    }
    #expect(plans[1].resultCount == count / 4)
    #expect(plans[1].accesses.first?.path == .columns(["town"]))
    #expect(plans[1].accesses.first?.readRowCount == 0)
    #expect(plans[1].accesses.first?.columnByteCount ?? 0 > 0)
    #expect(plans[2].accesses.first?.path == .columns(["town", "number", "size"]))
    #expect(plans[2].accesses.first?.readRowCount == 0)
  }

  @Test func `follows the order of an index, or the columns of a sort, to the first rows`() throws {
    var first = FetchDescriptor<Depot>(sortBy: [SortDescriptor(\.number, order: .reverse)])
    first.fetchLimit = 5
    let walked = try context.explain(first)
    #expect(walked.accesses.map(\.path) == [.indexOrder(["number"])])
    #expect(walked.accesses.first?.readRowCount == 5)
    #expect(walked.sortedBy == .store)
    #expect(walked.sort == ["number descending"])
    try compact()
    var largest = FetchDescriptor<Depot>(sortBy: [SortDescriptor(\.size, order: .reverse)])
    largest.fetchLimit = 5
    let scanned = try context.explain(largest)
    #expect(scanned.accesses.map(\.path) == [.firstByColumns(["size"])])
    #expect(scanned.accesses.first?.readRowCount ?? 0 < 100)
    #expect(scanned.steps.contains { $0.kind == .sort })
  }

  @Test func `tells rows by identifier and by reference`() throws {
    let depot = try #require(
      try context.fetch(FetchDescriptor<Depot>(predicate: #Predicate { $0.number == 0 })).first
    )
    let identifier = depot.persistentModelID
    let byName = try context.explain(
      FetchDescriptor<Depot>(predicate: #Predicate { $0.persistentModelID == identifier })
    )
    #expect(byName.accesses.map(\.path) == [.identifiers])
    let byReference = try context.explain(
      FetchDescriptor<Crate>(predicate: #Predicate { $0.depot?.persistentModelID == identifier })
    )
    #expect(byReference.accesses.map(\.path) == [.references("depot")])
    #expect(byReference.resultCount == 1)
  }

  @Test func `says what the context had to do with objects`() throws {
    let plan = try context.explain(
      FetchDescriptor<Depot>(predicate: #Predicate { $0.isRoman })
    )
    #expect(plan.filteredBy == .context)
    #expect(plan.predicate == "(tested on objects)")
    #expect(plan.objectCount == count)
    #expect(plan.accesses.map(\.path) == [.scan])
    #expect(plan.steps.contains { $0.kind == .filterObjects })
    #expect(plan.resultCount == count / 4)
  }

  @Test func `is printed with its question, way, and times`() throws {
    var descriptor = FetchDescriptor<Depot>(
      predicate: #Predicate { $0.number < 12 && ($0.town == "Oslo" || $0.note == nil) },
      sortBy: [SortDescriptor(\.size)]
    )
    descriptor.fetchLimit = 3
    let plan = try context.explain(descriptor)
    let lines = plan.description.split(separator: "\n").map(String.init)
    #expect(
      lines.first
        == "fetch Depot where number < 12 && (town == \"Oslo\" || note == nil), sorted by size, limit 3"
    )
    #expect(lines[1].hasPrefix("  Depot       index of number: 12 of 20,000 rows; read "))
    #expect(lines.last == "  result      3")
    #expect(lines.contains { $0.contains(" ms in all") })
  }

  @Test func `changes no answer`() throws {
    let rome = FetchDescriptor<Depot>(
      predicate: #Predicate { $0.town == "Rome" },
      sortBy: [SortDescriptor(\.number)]
    )
    let plain = try context.fetch(rome)
    let (explained, plans) = try context.explain { try context.fetch(rome) }
    #expect(plain == explained)
    #expect(plans.count == 1)
    #expect(context.editingState.trace == nil)
  }

  @Test func `is handed over for slow fetches only`() throws {
    let seen = Mutex<[QueryPlan]>([])
    func container(_ threshold: Duration) throws -> ModelContainer {
      var configuration = LogStoreConfiguration(
        url: folder.url.appending(path: "slow \(threshold).store"),
        durability: .relaxed
      )
      configuration.slowFetchThreshold = threshold
      configuration.onSlowFetch = { plan in seen.withLock { $0.append(plan) } }
      return try ModelContainer(for: Depot.self, Crate.self, configurations: configuration)
    }
    let patient = ModelContext(try container(.seconds(3600)))
    _ = try patient.fetch(FetchDescriptor<Depot>())
    #expect(seen.withLock { $0.isEmpty })
    let strict = ModelContext(try container(.zero))
    strict.insert(Depot(1))
    try strict.save()
    _ = try strict.fetch(FetchDescriptor<Depot>(predicate: #Predicate { $0.town == "Rome" }))
    _ = try strict.fetchCount(FetchDescriptor<Depot>())
    let plans = seen.withLock { $0 }
    #expect(plans.map(\.question) == [.fetch, .count])
    #expect(plans.first?.accesses.first?.matchCount == 1)
    #expect(plans.first?.headline == "fetch Depot where town == \"Rome\"")
  }
}

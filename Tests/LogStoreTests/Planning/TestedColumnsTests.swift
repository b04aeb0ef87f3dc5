import Foundation
import LogStore
import SwiftData
import Testing

@testable import ModelRuntime

private enum Casing: String, Codable, CaseIterable { case box, tube, sack }

@Model private final class Slipway {
  var name: String
  @Relationship(inverse: \Coil.slipway) var coils: [Coil] = []

  init(_ name: String) { self.name = name }
}

@Model private final class Coil {
  #Index<Coil>([\.mark])
  var mark: Int
  var price: Double
  var title: String
  var note: String?
  var casing: Casing
  var arrival: Date
  var isOpen: Bool
  var id: UUID
  var pictures: [String]
  var slipway: Slipway?

  init(_ number: Int, _ random: inout SeededRandom) {
    mark = number % 64
    price = Double(Int.random(in: 0..<100, using: &random))
    title = "coil \(number), and some words that are compressed"
    note = Bool.random(using: &random) ? nil : "note \(number % 7)"
    casing = Casing.allCases.randomElement(using: &random) ?? .box
    arrival = Date(timeIntervalSinceReferenceDate: Double(number) * 60)
    isOpen = Bool.random(using: &random)
    id = UUID()
    pictures = (0..<(number % 3)).map { "picture \($0)" }
  }
}

/// Rows that an index names, which have to be tested: of packed ones only what the test looks at.
@Suite struct `Packed rows that an index names` {
  private typealias Test = (predicate: Predicate<Coil>, matches: (Coil) -> Bool)

  private static func tests(of mark: Int) -> [Test] {
    let (moment, kind) = (Date(timeIntervalSinceReferenceDate: 300_000), Casing.tube)
    return [
      (#Predicate { $0.mark == mark && $0.price < 20 }, { $0.price < 20 }),
      (#Predicate { $0.mark == mark && $0.price < 95 }, { $0.price < 95 }),
      (#Predicate { $0.mark == mark && $0.note == nil }, { $0.note == nil }),
      (#Predicate { $0.mark == mark && $0.note != "note 3" }, { $0.note != "note 3" }),
      (
        #Predicate { $0.mark == mark && ($0.arrival > moment || $0.isOpen) },
        { $0.arrival > moment || $0.isOpen }
      ),
      (#Predicate { $0.mark == mark && $0.casing == kind }, { $0.casing == kind }),
      (#Predicate { $0.mark == mark && $0.title.contains("7") }, { $0.title.contains("7") }),
      (
        #Predicate { $0.mark == mark && $0.slipway?.name == "north" },
        { $0.slipway?.name == "north" }
      ),
      (#Predicate { $0.mark == mark && $0.slipway == nil }, { $0.slipway == nil }),
      (#Predicate { $0.mark == mark && $0.pictures.count > 1 }, { $0.pictures.count > 1 }),
      (
        #Predicate { $0.mark == mark && ($0.slipway?.coils.count ?? 0) > 3 },
        { ($0.slipway?.coils.count ?? 0) > 3 }
      ),
    ]
  }

  @Test func `match as those do that are read whole`() throws {
    let folder = try TemporaryFolder()
    var configuration = LogStoreConfiguration(url: folder.url.appending(path: "coils"))
    configuration.compaction = .init(.onDemand, historyByteCount: 0)
    let container = try ModelContainer(
      for: Coil.self,
      Slipway.self,
      configurations: configuration
    )
    var random = SeededRandom(seed: 14)
    let context = ModelContext(container)
    let slipways = ["north", "south", "north"].map(Slipway.init)
    for slipway in slipways { context.insert(slipway) }
    for number in 0..<6_400 {
      let coil = Coil(number, &random)
      context.insert(coil)
      if number % 500 < 4 { coil.slipway = slipways[number % 3] }
    }
    try context.save()
    try #require(container.stores(of: LogStore.self).first).compact()
    // Some rows are in the log again.
    let changed = try context.fetch(
      FetchDescriptor<Coil>(predicate: #Predicate { $0.mark == 5 && $0.isOpen })
    )
    for coil in changed { coil.price = 1 }
    try context.save()
    let all = try ModelContext(container).fetch(FetchDescriptor<Coil>())
    for mark in [5, 37] {
      for (number, test) in Self.tests(of: mark).enumerated() {
        let expected = all.filter { $0.mark == mark && test.matches($0) }
        let reader = ModelContext(container)
        var descriptor = FetchDescriptor<Coil>(predicate: test.predicate)
        #expect(try reader.fetchCount(descriptor) == expected.count, "\(number)")
        let names = Set(expected.map(\.persistentModelID))
        #expect(try Set(reader.fetchIdentifiers(descriptor)) == names, "\(number)")
        let found = try reader.fetch(descriptor)
        #expect(Set(found.map(\.persistentModelID)) == names, "\(number)")
        #expect(found.map(\.title) == expected.map(\.title), "\(number)")
        descriptor.sortBy = [SortDescriptor(\.arrival, order: .reverse)]
        descriptor.fetchLimit = 7
        let last = try reader.fetch(descriptor)
        #expect(last.map(\.id) == expected.suffix(7).reversed().map(\.id), "\(number)")
      }
    }
  }

  /// A count looks at two columns, and no title.
  @Test func `are not read whole to be counted`() throws {
    let folder = try TemporaryFolder()
    var configuration = LogStoreConfiguration(url: folder.url.appending(path: "coils"))
    configuration.compaction = .init(.onDemand, historyByteCount: 0)
    let container = try ModelContainer(for: Coil.self, Slipway.self, configurations: configuration)
    var random = SeededRandom(seed: 15)
    let context = ModelContext(container)
    for number in 0..<6_400 { context.insert(Coil(number, &random)) }
    try context.save()
    let descriptor = FetchDescriptor<Coil>(predicate: #Predicate { $0.mark == 9 && $0.price < 50 })
    func explain() throws -> QueryPlan.TableAccess {
      let context = ModelContext(container)
      let (count, plans) = try context.explain { try context.fetchCount(descriptor) }
      #expect(count > 0)
      return try #require(plans.first?.accesses.first)
    }
    let whole = try explain()
    try #require(container.stores(of: LogStore.self).first).compact()
    let cut = try explain()
    #expect(cut.readRowCount == 100 && whole.readRowCount == 100)
    #expect(3 * cut.readRowByteCount < 2 * whole.readRowByteCount)
  }

  /// A scan of columns costs less than to look for the first matches in the order of an index.
  @Test(arguments: [true, false])
  func `are seldom tested one by one in an order where few match`(isPacked: Bool) throws {
    let folder = try TemporaryFolder()
    var configuration = LogStoreConfiguration(url: folder.url.appending(path: "coils"))
    configuration.compaction = .init(.onDemand, historyByteCount: 0)
    let container = try ModelContainer(for: Coil.self, Slipway.self, configurations: configuration)
    var random = SeededRandom(seed: 16)
    let context = ModelContext(container)
    for number in 0..<6_400 { context.insert(Coil(number, &random)) }
    try context.save()
    let all = try context.fetch(FetchDescriptor<Coil>()).sorted {
      ($0.mark, $0.title) < ($1.mark, $1.title)
    }
    if isPacked { try #require(container.stores(of: LogStore.self).first).compact() }
    for (price, limit) in [(-1.0, 1), (7, 5), (7, 60), (7, 1_000), (50, 3)] {
      for order in [SortOrder.forward, .reverse] {
        var descriptor = FetchDescriptor<Coil>(
          predicate: price < 10
            ? #Predicate { $0.price == price } : #Predicate { $0.price < price },
          sortBy: [SortDescriptor(\.mark, order: order), SortDescriptor(\.title)]
        )
        descriptor.fetchLimit = limit
        let reader = ModelContext(container)
        let (found, plans) = try reader.explain { try reader.fetch(descriptor) }
        let matching = all.filter { price < 10 ? $0.price == price : $0.price < price }
        let expected =
          order == .forward
          ? matching : matching.sorted { ($1.mark, $0.title) < ($0.mark, $1.title) }
        #expect(found.map(\.title) == expected.prefix(limit).map(\.title))
        let readCount = plans.flatMap(\.accesses).reduce(0) { $0 + $1.readRowCount }
        // Besides the rows that are found; of equal marks, all are read.
        if isPacked { #expect(readCount <= found.count + 200, "\(plans)") }
      }
    }
  }
}

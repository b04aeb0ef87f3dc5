import Foundation
import SwiftData
import Testing

@testable import LogStore

@Model private final class Tide {
  #Index<Tide>([\.level], [\.place], [\.station, \.at], [\.depth], [\.share])
  var level: Int
  var place: String
  var station: Int
  var at: Date
  var depth: Int?
  var share: Double
  /// Without an index.
  var plain: Int

  init(_ random: inout SeededRandom) {
    level = random.next(below: 5000) - 2500
    let names = ["", "harbour ", "harbour wall ", "\u{e9}tang ", "e\u{301}tang ", "z"]
    place = names[random.next(below: 6)] + "\(random.next(below: 50))"
    station = random.next(below: 7)
    at = Date(timeIntervalSinceReferenceDate: Double(random.next(below: 100_000)) - 50_000)
    depth = random.next(below: 4) == 0 ? nil : random.next(below: 900)
    share = random.next(below: 9) == 0 ? .nan : Double(random.next(below: 800)) / 8 - 50
    plain = random.next(below: 1000)
  }
}

@Suite struct `The least and greatest value of a property with an index` {
  private let container: ModelContainer
  private let context: ModelContext

  init() throws {
    container = try ModelContainer(
      for: Tide.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    context = ModelContext(container)
  }

  private func fill(_ count: Int, _ random: inout SeededRandom) throws {
    for _ in 0..<count { context.insert(Tide(&random)) }
    try context.save()
  }

  private func expectExtremes(_ predicate: Predicate<Tide>?, _ told: String) throws {
    let all = try context.fetch(FetchDescriptor<Tide>(predicate: predicate))
    let tides = FetchDescriptor<Tide>(predicate: predicate, sortBy: [SortDescriptor(\.plain)])
    let (low, high) = try context.aggregate(tides, .minimum(\.level), .maximum(\.level))
    #expect(low == all.map(\.level).min() && high == all.map(\.level).max(), "\(told)")
    let (first, last) = try context.aggregate(tides, .minimum(\.place), .maximum(\.place))
    let places = all.map(\.place).sorted()
    #expect(first == places.first && last == places.last, "\(told)")
    let (early, late) = try context.aggregate(tides, .minimum(\.at), .maximum(\.at))
    #expect(early == all.map(\.at).min() && late == all.map(\.at).max(), "\(told)")
    let (shallow, deep) = try context.aggregate(tides, .minimum(\.depth), .maximum(\.depth))
    #expect(shallow == all.compactMap(\.depth).min(), "\(told)")
    #expect(deep == all.compactMap(\.depth).max(), "\(told)")
    let (least, most) = try context.aggregate(tides, .minimum(\.share), .maximum(\.share))
    let shares = all.map(\.share).filter { !$0.isNaN }
    #expect(least == shares.min() && most == shares.max(), "\(told)")
    let (count, plain) = try context.aggregate(tides, .count, .maximum(\.plain))
    #expect(count == all.count && plain == all.map(\.plain).max(), "\(told)")
  }

  @Test(arguments: [1, 2, 3] as [UInt64], [false, true])
  func `are those of the models that match`(seed: UInt64, isPacked: Bool) throws {
    var random = SeededRandom(seed: seed)
    try fill(1200, &random)
    if isPacked {
      for store in container.stores(of: LogStore.self) { try store.compact() }
      try fill(100, &random)
    }
    let station = random.next(below: 7)
    let bound = random.next(below: 4000) - 2000
    let day = Date(timeIntervalSinceReferenceDate: 0)
    let predicates: [Predicate<Tide>?] = [
      nil,
      #Predicate { $0.station == station },
      #Predicate { $0.station == station && $0.at < day },
      #Predicate { $0.level > bound },
      #Predicate { $0.plain < 100 },
      #Predicate { $0.station == 99 },
      #Predicate { $0.depth != nil },
    ]
    for (number, predicate) in predicates.enumerated() {
      try expectExtremes(predicate, "seed \(seed), predicate \(number)")
    }
    // Unsaved changes, some of them at the ends.
    for tide in try context.fetch(FetchDescriptor<Tide>(sortBy: [SortDescriptor(\.level)])).prefix(
      9
    ) { context.delete(tide) }
    for tide in try context.fetch(FetchDescriptor<Tide>(sortBy: [SortDescriptor(\.at)])).suffix(3) {
      tide.at = day
      tide.place += "!"
    }
    context.insert(Tide(&random))
    for (number, predicate) in predicates.enumerated() {
      try expectExtremes(predicate, "seed \(seed), predicate \(number), unsaved changes")
    }
    try context.save()
    try expectExtremes(nil, "seed \(seed), saved")
  }

  @Test func `are those of nothing, if all are deleted`() throws {
    var random = SeededRandom(seed: 4)
    try fill(300, &random)
    try context.delete(model: Tide.self)
    try context.save()
    try expectExtremes(nil, "deleted")
    try fill(300, &random)
    for tide in try context.fetch(FetchDescriptor<Tide>()) { tide.depth = nil }
    for tide in try context.fetch(FetchDescriptor<Tide>()) { tide.share = .nan }
    try context.save()
    let (deepest, greatest) = try context.aggregate(
      FetchDescriptor<Tide>(),
      .maximum(\.depth),
      .maximum(\.share)
    )
    #expect(deepest == nil)
    #expect(greatest?.isNaN == true)
  }

  @Test(arguments: [false, true]) func `are read of one row each`(isPacked: Bool) throws {
    var random = SeededRandom(seed: 5)
    try fill(2000, &random)
    if isPacked { for store in container.stores(of: LogStore.self) { try store.compact() } }
    let context = ModelContext(container)
    let (_, plans) = try context.explain {
      _ = try context.aggregate(FetchDescriptor<Tide>(), .minimum(\.level), .maximum(\.level))
      let ofOne = FetchDescriptor<Tide>(predicate: #Predicate { $0.station == 3 })
      _ = try context.aggregate(ofOne, .maximum(\.at))
    }
    let accesses = plans.flatMap(\.accesses)
    #expect(accesses.count == 3)
    #expect(
      accesses.allSatisfy { $0.readRowCount <= 2 && ($0.candidateCount ?? 0) <= 2 },
      "\(plans)"
    )
  }

  /// Texts that begin alike are next to each other in an index, in no certain order.
  @Test(arguments: [5, 500], [false, true])
  func `are read from a few rows, or from columns`(textCount: Int, isPacked: Bool) throws {
    var random = SeededRandom(seed: 6)
    for number in 0..<2000 {
      let tide = Tide(&random)
      tide.place = "https://tides.example/\(number % textCount)"
      tide.station = number % 3
      tide.depth = nil
      context.insert(tide)
    }
    try context.save()
    if isPacked { for store in container.stores(of: LogStore.self) { try store.compact() } }
    let all = try context.fetch(FetchDescriptor<Tide>())
    let context = ModelContext(container)
    let (_, plans) = try context.explain {
      let (first, last) = try context.aggregate(
        FetchDescriptor<Tide>(),
        .minimum(\.place),
        .maximum(\.place)
      )
      #expect(first == all.map(\.place).min() && last == all.map(\.place).max())
      // A third of all rows have the greatest station, which is the first column of its index.
      let (low, high) = try context.aggregate(
        FetchDescriptor<Tide>(),
        .minimum(\.station),
        .maximum(\.station)
      )
      #expect(low == 0 && high == 2)
      let (shallow, deep) = try context.aggregate(
        FetchDescriptor<Tide>(),
        .minimum(\.depth),
        .maximum(\.depth)
      )
      #expect(shallow == nil && deep == nil)
    }
    let accesses = plans.flatMap(\.accesses)
    #expect(accesses.allSatisfy { $0.readRowCount <= 32 }, "\(plans)")
    #expect(accesses.count == (textCount < 32 ? 6 : 5), "\(plans)")
  }
}

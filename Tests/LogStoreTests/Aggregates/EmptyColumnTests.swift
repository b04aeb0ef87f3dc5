import Foundation
import LogEngine
import SwiftData
import Synchronization
import Testing

@testable import LogStore

// Blocks of packed rows that have no value in a column: all are null there, or the column came later.

private enum Grade: String, Codable { case low, high }

private enum Level: Int, Codable { case one = 1, two }

private enum Early {
  @Model final class Shop {
    var city: String?
    init(_ city: String?) { self.city = city }
  }

  @Model final class Order {
    var number: Int
    var reason: String?
    var cancelledAt: Date?
    var shop: Shop?

    init(_ number: Int) { self.number = number }
  }
}

private enum Late {
  @Model final class Shop {
    var city: String?
    init(_ city: String?) { self.city = city }
  }

  @Model final class Order {
    var number: Int
    var reason: String?
    var cancelledAt: Date?
    var shop: Shop?
    var amount: Int?
    var units: UInt64?
    var weight: Double?
    var share: Float?
    var isPaid: Bool?
    var serial: UUID?
    var link: URL?
    var grade: Grade?
    var level: Level?
    var label: String = "none"
    var rank: Int = 7
    var since: Date = Date(timeIntervalSinceReferenceDate: 100)

    init(_ number: Int) { self.number = number }
  }
}

/// A group of two properties.
private struct Pair<Value: Hashable>: Hashable {
  let value: Value
  let reason: String?
}

@Suite struct `Questions about columns that have no values` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open(_ types: [any PersistentModel.Type]) throws -> ModelContainer {
    var configuration = LogStoreConfiguration(
      url: folder.url.appending(path: "orders.store"),
      durability: .relaxed
    )
    configuration.compaction = .init(.onDemand, historyByteCount: 0)
    return try ModelContainer(for: Schema(types), configurations: [configuration])
  }

  private func openEarly() throws -> ModelContainer {
    try open([Early.Order.self, Early.Shop.self])
  }

  private func openLate() throws -> ModelContainer { try open([Late.Order.self, Late.Shop.self]) }

  private func pack(_ container: ModelContainer) throws {
    let store = try #require(container.stores(of: LogStore.self).first)
    try store.compact()
    #expect(!store.statistics().packs.isEmpty)
  }

  private var calendar: Calendar {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    return calendar
  }

  @Test func `find one group where all rows of a block are nil, and some beside others`() throws {
    let container = try openEarly()
    let context = ModelContext(container)
    for number in 0..<100 { context.insert(Early.Order(number)) }
    try context.save()
    try pack(container)
    let all = FetchDescriptor<Early.Order>()
    let reasons = try context.aggregate(all, by: \.reason, .count, .maximum(\.number))
    #expect(reasons.map(\.key) == [nil])
    #expect(reasons.first?.values.0 == 100 && reasons.first?.values.1 == 99)
    #expect(try context.distinct(\.reason, in: all) == [nil])
    let months = try context.aggregate(
      all,
      by: .calendar(\.cancelledAt, .month, in: calendar),
      .count
    )
    #expect(months.map(\.key) == [nil] && months.map(\.values) == [100])
    let pairs = try context.aggregate(
      all,
      by: (.value(\.number), .value(\.reason), .value(\Early.Order.shop?.city)),
      .count
    )
    #expect(pairs.count == 100 && pairs.allSatisfy { $0.key.1 == nil && $0.key.2 == nil })
    let shops = try context.aggregate(all, by: \.shop?.city, .countDistinct(\.reason))
    #expect(shops.map(\.key) == [nil] && shops.map(\.values) == [0])

    for number in 100..<130 {
      let order = Early.Order(number)
      order.reason = "late"
      context.insert(order)
    }
    try context.save()
    for isPacked in [false, true] {
      if isPacked { try pack(container) }
      let found = try context.aggregate(all, by: \.reason, .count)
      #expect(found.map(\.key) == [nil, "late"] && found.map(\.values) == [100, 30])
    }
  }

  @Test func `find one group where a property came after the rows`() throws {
    do {
      let container = try openEarly()
      let context = ModelContext(container)
      for number in 0..<100 { context.insert(Early.Order(number)) }
      try context.save()
      try pack(container)
    }
    let context = ModelContext(try openLate())
    let all = FetchDescriptor<Late.Order>()
    #expect(try context.distinct(\.amount, in: all) == [nil])
    #expect(try context.distinct(\.label, in: all) == ["none"])
    #expect(try context.distinct(\.rank, in: all) == [7])
    let ranges = try context.aggregate(all, by: .ranges(of: \.weight, [0..<1]), .count)
    #expect(ranges.map(\.key) == [nil] && ranges.map(\.values) == [100])
    let days = try context.aggregate(all, by: .calendar(\.since, .day, in: calendar), .count)
    #expect(days.map(\.values) == [100])
    let (labels, ranks, sum) = try context.aggregate(
      all,
      .countDistinct(\.label),
      .maximum(\.rank),
      .sum(\.rank)
    )
    #expect(labels == 1 && ranks == 7 && sum == 700)
  }

  // MARK: At random

  /// Rows in packs, some of whose blocks have no values in some columns or lack them, and in the log.
  private func fill(_ random: inout SeededRandom) throws -> ModelContainer {
    do {
      let container = try openEarly()
      let context = ModelContext(container)
      for number in 0..<random.next(below: 100) { context.insert(Early.Order(number)) }
      try context.save()
      try container.stores(of: LogStore.self).first?.compact()
    }
    let container = try openLate()
    let context = ModelContext(container)
    var number = 1000
    for _ in 0..<4 {
      let shops = ["Rome", "Oslo", nil].map { Late.Shop($0) }
      for shop in shops { context.insert(shop) }
      // Which columns have values in this part.
      let columns = random.next()
      for _ in 0..<random.next(below: 120) {
        let order = Late.Order(number)
        number += 1
        context.insert(order)
        func has(_ column: Int) -> Bool {
          columns >> UInt64(column) & 1 == 1 && random.next(below: 4) > 0
        }
        let value = random.next(below: 9)
        if has(0) { order.reason = ["late", "Ärger", "A\u{308}rger", "", "broken"][value % 5] }
        if has(1) { order.cancelledAt = Date(timeIntervalSinceReferenceDate: Double(value) * 1e6) }
        if has(2) { order.shop = shops[value % 3] }
        if has(3) { order.amount = value - 4 }
        if has(4) { order.units = .max - UInt64(value) }
        if has(5) { order.weight = Double(value) / 4 }
        if has(6) { order.share = Float(value) / 2 }
        if has(7) { order.isPaid = value > 4 }
        if has(8) {
          order.serial = UUID(uuid: (UInt8(value), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        }
        if has(9) { order.link = URL(string: "https://example.org/\(value % 3)") }
        if has(10) { order.grade = value > 4 ? .low : .high }
        if has(11) { order.level = value > 4 ? .one : .two }
        if has(12) { order.label = "label \(value % 3)" }
        if has(13) { order.rank = value }
        if has(14) { order.since = Date(timeIntervalSinceReferenceDate: Double(value) * 1e6) }
      }
      try context.save()
      if random.next(below: 4) > 0 { try container.stores(of: LogStore.self).first?.compact() }
    }
    return container
  }

  private func check<Value: Hashable>(
    _ property: KeyPath<Late.Order, Value>,
    _ context: ModelContext,
    _ orders: [Late.Order],
    _ comment: Comment
  ) throws {
    let all = FetchDescriptor<Late.Order>()
    let groups = try context.aggregate(all, by: property, .count, .maximum(\.number))
    let expected = Dictionary(grouping: orders) { $0[keyPath: property] }
    #expect(Set(groups.map(\.key)) == Set(expected.keys), comment)
    #expect(groups.count == expected.count, comment)
    for group in groups {
      #expect(group.values.0 == expected[group.key]?.count, comment)
      #expect(group.values.1 == expected[group.key]?.map(\.number).max(), comment)
    }
    #expect(try Set(context.distinct(property, in: all)) == Set(expected.keys), comment)
    let pairs = try context.aggregate(all, by: (.value(property), .value(\.reason)), .count)
    let expectedPairs = Dictionary(grouping: orders) {
      Pair(value: $0[keyPath: property], reason: $0.reason)
    }
    #expect(pairs.count == expectedPairs.count, comment)
    for pair in pairs {
      let found = expectedPairs[Pair(value: pair.key.0, reason: pair.key.1)]
      #expect(pair.values == found?.count, comment)
    }
  }

  private func checkOptional<Value: Hashable>(
    _ property: KeyPath<Late.Order, Value?>,
    _ context: ModelContext,
    _ orders: [Late.Order],
    _ comment: Comment
  ) throws {
    try check(property, context, orders, comment)
    let (count, distinct, first, last) = try context.aggregate(
      FetchDescriptor<Late.Order>(),
      .count(property),
      .countDistinct(property),
      .first(property, by: \.number),
      .last(property, by: \.number)
    )
    #expect(count == orders.count { $0[keyPath: property] != nil }, comment)
    #expect(distinct == Set(orders.compactMap { $0[keyPath: property] }).count, comment)
    let ends = (orders.min { $0.number < $1.number }, orders.max { $0.number < $1.number })
    #expect(first == ends.0.flatMap { $0[keyPath: property] }, comment)
    #expect(last == ends.1.flatMap { $0[keyPath: property] }, comment)
  }

  private func checkOrder<Value: Hashable & Comparable>(
    _ property: any KeyPath<Late.Order, Value?> & Sendable,
    _ context: ModelContext,
    _ orders: [Late.Order],
    _ comment: Comment
  ) throws {
    try checkOptional(property, context, orders, comment)
    let values = orders.compactMap { $0[keyPath: property] }
    let (least, greatest, first) = try context.aggregate(
      FetchDescriptor<Late.Order>(),
      .minimum(property),
      .maximum(property),
      .first(\.reason, by: property)
    )
    #expect(least == values.min() && greatest == values.max(), comment)
    let candidates = orders.filter { $0[keyPath: property] == values.min() && !values.isEmpty }
    #expect(
      candidates.isEmpty ? first == nil : candidates.contains { $0.reason == first },
      comment
    )
    for order in [SortOrder.forward, .reverse] {
      var sorted = orders.map { $0[keyPath: property] }.sorted { lhs, rhs in
        guard let lhs else { return rhs != nil }
        return rhs.map { lhs < $0 } ?? false
      }
      if order == .reverse { sorted.reverse() }
      for limit in [1, 10, 1000] {
        var descriptor = FetchDescriptor<Late.Order>(
          sortBy: [SortDescriptor(property, order: order), SortDescriptor(\.number)]
        )
        descriptor.fetchLimit = limit
        let found = try context.fetch(descriptor)
        #expect(found.map { $0[keyPath: property] } == Array(sorted.prefix(limit)), comment)
      }
    }
  }

  private func checkPredicates(
    _ context: ModelContext,
    _ orders: [Late.Order],
    _ comment: Comment
  ) throws {
    func check(
      _ predicate: Predicate<Late.Order>,
      _ matches: (Late.Order) -> Bool
    ) throws {
      let descriptor = FetchDescriptor(predicate: predicate)
      let expected = Set(orders.filter(matches).map(\.number))
      #expect(try context.fetchCount(descriptor) == expected.count, comment)
      #expect(try Set(context.fetch(descriptor).map(\.number)) == expected, comment)
      #expect(try context.aggregate(descriptor, .sum(\.number)) == expected.reduce(0, +), comment)
    }
    try check(#Predicate { $0.reason == nil }) { $0.reason == nil }
    try check(#Predicate { $0.reason?.contains("rok") ?? false }) {
      $0.reason?.contains("rok") ?? false
    }
    try check(#Predicate { $0.reason?.starts(with: "late") ?? true }) {
      $0.reason?.starts(with: "late") ?? true
    }
    try check(#Predicate { $0.amount != nil && $0.label.contains("1") }) {
      $0.amount != nil && $0.label.contains("1")
    }
    try check(#Predicate { ($0.weight ?? 1) >= 1 || $0.isPaid == true }) {
      ($0.weight ?? 1) >= 1 || $0.isPaid == true
    }
    try check(#Predicate { $0.shop?.city == "Rome" }) { $0.shop?.city == "Rome" }
    try check(#Predicate { $0.shop == nil && $0.rank == 7 }) { $0.shop == nil && $0.rank == 7 }
    try check(#Predicate { $0.serial == nil || $0.units == nil }) {
      $0.serial == nil || $0.units == nil
    }
  }

  @Test(arguments: 0..<8 as Range<UInt64>)
  func `are answered as a loop over the models answers them`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let container = try fill(&random)
    if seed % 2 == 1 {
      try #require(container.stores(of: LogStore.self).first).tables.leastSharedRowCount
        .store(0, ordering: .relaxed)
    }
    let context = ModelContext(container)
    let orders = try context.fetch(FetchDescriptor<Late.Order>())
    let comment: Comment = "seed \(seed)"
    try check(\.label, context, orders, comment)
    try check(\.rank, context, orders, comment)
    try check(\.since, context, orders, comment)
    try check(\.shop?.city, context, orders, comment)
    try checkOptional(\.isPaid, context, orders, comment)
    try checkOptional(\.link, context, orders, comment)
    try checkOptional(\.grade, context, orders, comment)
    try checkOptional(\.level, context, orders, comment)
    try checkOrder(\.reason, context, orders, comment)
    try checkOrder(\.cancelledAt, context, orders, comment)
    try checkOrder(\.amount, context, orders, comment)
    try checkOrder(\.units, context, orders, comment)
    try checkOrder(\.weight, context, orders, comment)
    try checkOrder(\.share, context, orders, comment)
    try checkOrder(\.serial, context, orders, comment)
    try checkPredicates(context, orders, comment)
    let months = try context.aggregate(
      FetchDescriptor<Late.Order>(),
      by: .calendar(\.cancelledAt, .month, in: calendar),
      .count
    )
    let expected = Dictionary(grouping: orders) { order in
      order.cancelledAt.flatMap { calendar.dateInterval(of: .month, for: $0)?.start }
    }
    #expect(Set(months.map(\.key)) == Set(expected.keys), comment)
    for month in months { #expect(month.values == expected[month.key]?.count, comment) }
    let (sum, mean, spread, median) = try context.aggregate(
      FetchDescriptor<Late.Order>(),
      .sum(\.amount),
      .average(\.weight),
      .standardDeviation(\.share),
      .percentile(0.5, \.units)
    )
    let weights = orders.compactMap(\.weight)
    #expect(sum == orders.compactMap(\.amount).reduce(0, +), comment)
    #expect((mean == nil) == weights.isEmpty, comment)
    if let mean {
      #expect(abs(mean - weights.reduce(0, +) / Double(weights.count)) < 1e-9, comment)
    }
    #expect((spread == nil) == orders.allSatisfy { $0.share == nil }, comment)
    #expect((median == nil) == orders.allSatisfy { $0.units == nil }, comment)
  }
}

import Foundation
import ModelRuntime
import PostgresStore
import Testing

private enum Weight: Int, Codable, CaseIterable { case light = 1, heavy = 3 }

private func pick<Value>(_ values: [Value], _ random: inout SeededGenerator) -> Value {
  values[Int.random(in: 0..<values.count, using: &random)]
}

@Model private final class Depot {
  var name: String
  var rank: Int
  @Relationship(inverse: \Parcel.depot) var parcels: [Parcel] = []

  init(_ name: String, rank: Int) {
    self.name = name
    self.rank = rank
  }
}

@Model private class Parcel {
  var number: Int
  var small: Int8
  var wide: UInt64
  var ratio: Double
  var share: Float
  var name: String
  var flag: Bool
  var made: Date
  var token: UUID
  var weight: Weight
  var link: URL
  var price: Decimal
  var maybeNumber: Int?
  var maybeWide: UInt64?
  var maybeRatio: Double?
  var note: String?
  var seen: Date?
  var maybeWeight: Weight?
  var depot: Depot?

  init(_ random: inout SeededGenerator) {
    func double() -> Double {
      // Sums of these are exact, whatever their order.
      let special: [Double] = [.nan, .infinity, -.infinity, 0]
      return Int.random(in: 0..<12, using: &random) == 0
        ? pick(special, &random)
        : Double(Int.random(in: -40...40, using: &random)) / 4
    }
    func date() -> Date {
      Date(
        timeIntervalSinceReferenceDate: Double(Int.random(in: -20...20, using: &random)) * 40_000
      )
    }
    func text() -> String {
      // The same text in two forms; characters beyond the first plane, which UTF-16 would put elsewhere.
      pick(["", "a", "B", "\u{E9}t\u{E9}", "e\u{301}te\u{301}", "\u{FF61}", "\u{1F9ED}"], &random)
    }
    number = Int.random(in: -5...5, using: &random)
    small = Int8.random(in: -2...2, using: &random)
    wide = pick([0, 1, 7, 1 << 63, .max - 1], &random)
    ratio = double()
    share = Float(Int.random(in: -8...8, using: &random)) / 8
    name = text()
    flag = Bool.random(using: &random)
    made = date()
    token = UUID(
      uuid: (UInt8.random(in: 0...3, using: &random), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)
    )
    weight = pick(Weight.allCases, &random)
    link = URL(filePath: "/\(Int.random(in: 0...2, using: &random))")
    price = Decimal(Int.random(in: 0...9, using: &random))
    maybeNumber = Bool.random(using: &random) ? Int.random(in: -9...9, using: &random) : nil
    maybeWide =
      Bool.random(using: &random) ? UInt64.random(in: 0...UInt64.max / 1000, using: &random) : nil
    maybeRatio = Bool.random(using: &random) ? double() : nil
    note = Bool.random(using: &random) ? text() : nil
    seen = Bool.random(using: &random) ? date() : nil
    maybeWeight = Bool.random(using: &random) ? Weight.allCases.randomElement(using: &random) : nil
  }
}

@Model private final class Crate: Parcel {
  var capacity: Int

  override init(_ random: inout SeededGenerator) {
    capacity = Int.random(in: 0...9, using: &random)
    super.init(&random)
  }
}

@Suite struct `An aggregate on a PostgreSQL server` {
  private let container: ModelContainer

  init() throws { container = try TestNamespace().container(Parcel.self, Crate.self, Depot.self) }

  private func fill(_ random: inout SeededGenerator, count: Int) throws -> ModelContext {
    let context = ModelContext(container)
    let depots = (0..<3).map { Depot("depot \($0)", rank: $0 % 2) }
    for depot in depots { context.insert(depot) }
    for number in 0..<count {
      let parcel = number % 4 == 0 ? Crate(&random) : Parcel(&random)
      context.insert(parcel)
      parcel.depot = Bool.random(using: &random) ? depots.randomElement(using: &random) : nil
    }
    try context.save()
    return ModelContext(container)
  }

  @Test(arguments: [false, true])
  func `takes the row made first, or last, of those that are equal`(isOfObjects: Bool) throws {
    var random = SeededGenerator(seed: 11)
    let context = try fill(&random, count: 60)
    var descriptor = FetchDescriptor<Parcel>()
    for (index, parcel) in try context.fetch(descriptor).enumerated() {
      parcel.number = index
      parcel.ratio = parcel is Crate ? .nan : 1
    }
    try context.save()
    descriptor.predicate = #Predicate { $0.ratio > 0 }
    let rows = try context.fetch(descriptor)
    descriptor.sortBy = [SortDescriptor(\.number, order: .reverse)]
    if isOfObjects { descriptor.fetchLimit = .max - 1 }
    for changed in [nil, rows.first, rows.last] {
      changed?.note = "not saved"
      let (first, last) = try context.aggregate(
        descriptor,
        .first(\.number, by: \.ratio),
        .last(\.number, by: \.ratio)
      )
      #expect(first == rows.first?.number)
      #expect(last == rows.last?.number)
    }
  }

  private static let calendar: Calendar = {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    return calendar
  }()

  /// The answers to questions of all kinds, with their names; zero has no sign in them.
  private static func answers(
    _ context: ModelContext,
    _ parcels: FetchDescriptor<Parcel>
  ) -> [String] {
    var answers: [String] = []
    func add<Answer>(_ name: String, _ ask: @autoclosure () throws -> Answer) {
      do {
        answers.append("\(name): \(try ask())".replacing("-0.0", with: "0.0"))
      } catch {
        answers.append("\(name): \(error)")
      }
    }
    func ask<each Value>(_ name: String, _ aggregates: repeat Aggregate<Parcel, each Value>) {
      add(name, try context.aggregate(parcels, repeat each aggregates))
    }
    func ask<Key, each Value>(
      _ name: String,
      by grouping: Grouping<Parcel, Key>,
      _ aggregates: repeat Aggregate<Parcel, each Value>
    ) {
      do {
        let groups = try context.aggregate(parcels, by: grouping, repeat each aggregates)
        add(name, groups)
      } catch {
        answers.append("\(name): \(error)")
      }
    }
    ask("counts", .count, .count(\.maybeNumber), .count(\.note), .count(\.seen))
    ask("sums", .sum(\.number), .sum(\.small), .sum(\.maybeNumber), .sum(\.maybeWide))
    ask("unsigned sums", .sum(\.wide))
    ask("averages", .average(\.number), .average(\.wide), .average(\.maybeNumber))
    ask("doubles", .sum(\.ratio), .average(\.maybeRatio), .sum(\.share), .average(\.made))
    ask("minima", .minimum(\.number), .minimum(\.small), .minimum(\.wide), .minimum(\.ratio))
    ask("maxima", .maximum(\.number), .maximum(\.small), .maximum(\.wide), .maximum(\.ratio))
    ask("optional minima", .minimum(\.maybeRatio), .minimum(\.note), .minimum(\.seen))
    ask("optional maxima", .maximum(\.maybeRatio), .maximum(\.note), .maximum(\.seen))
    ask("other extremes", .minimum(\.name), .maximum(\.name), .minimum(\.made), .maximum(\.share))
    ask("identifiers", .minimum(\.token), .maximum(\.token), .countDistinct(\.token))
    ask("distinct", .countDistinct(\.name), .countDistinct(\.ratio), .countDistinct(\.weight))
    ask("percentiles", .percentile(0.5, \.number), .percentile(0.9, \.ratio))
    ask("ends", .sum(\Parcel.depot?.rank), .maximum(\Parcel.depot?.name))
    ask("by number", by: .value(\.number), .count, .sum(\.maybeNumber), .maximum(\.ratio))
    ask("by text", by: .value(\.name), .count, .minimum(\.wide), .average(\.small))
    ask("by optional text", by: .value(\.note), .count, .maximum(\.maybeWide))
    ask("by ratio", by: .value(\.ratio), .count, .sum(\.number))
    ask("by optional ratio", by: .value(\.maybeRatio), .count)
    ask("by flag", by: .value(\.flag), .count, .sum(\.number), .sum(\.ratio))
    ask("by date", by: .value(\.made), .count, .maximum(\.seen))
    ask("by token", by: .value(\.token), .count)
    ask("by link", by: .value(\.link), .count)
    ask("by weight", by: .value(\.weight), .count, .minimum(\.number))
    ask("by optional weight", by: .value(\.maybeWeight), .count, .minimum(\.number))
    ask("by unsigned", by: .value(\.wide), .count)
    ask("by end", by: .value(\.depot?.name), .count, .sum(\.number))
    ask("by month", by: .calendar(\.made, .month, in: calendar), .count, .sum(\.number))
    ask("by range", by: .ranges(of: \.number, [-5..<0, 0..<3]), .count)
    return answers
  }

  private static func predicates(_ random: inout SeededGenerator) -> [Predicate<Parcel>?] {
    let number = Int.random(in: -6...6, using: &random)
    let text = pick(["a", "\u{E9}t\u{E9}", "nothing"], &random)
    return [
      nil,
      #Predicate<Parcel> { $0.number > number },
      #Predicate<Parcel> { $0.note == text },
      #Predicate<Parcel> { $0.maybeRatio == nil && !$0.flag },
      #Predicate<Parcel> { $0.depot?.rank == 1 },
      // The server finds more rows than match.
      #Predicate<Parcel> { $0.name.contains(text) },
      #Predicate<Parcel> { $0.number * 2 > number },
    ]
  }

  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func `says what models say`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let context = try fill(&random, count: Int.random(in: 0...80, using: &random))
    for isChanged in [false, true] {
      if isChanged { try change(context, &random) }
      for (place, predicate) in Self.predicates(&random).enumerated() {
        let descriptor = FetchDescriptor(predicate: predicate)
        var cut = descriptor
        // A limit makes the context measure the models that it fetches.
        cut.fetchLimit = 1_000_000
        for (found, expected) in zip(Self.answers(context, descriptor), Self.answers(context, cut))
        {
          #expect(found == expected, "seed \(seed), predicate \(place), changed: \(isChanged)")
        }
      }
    }
  }

  /// Changes models, and saves nothing.
  private func change(_ context: ModelContext, _ random: inout SeededGenerator) throws {
    for parcel in try context.fetch(FetchDescriptor<Parcel>()) {
      switch Int.random(in: 0..<4, using: &random) {
      case 0: context.delete(parcel)
      case 1: parcel.number += 3
      case 2: context.insert(Parcel(&random))
      default: break
      }
    }
  }

  @Test func `is a row for each group, and no model`() throws {
    var random = SeededGenerator(seed: 5)
    let context = try fill(&random, count: 200)
    let store = try #require(container.stores(of: PostgresStore.self).first)
    let before = store.roundTripCount
    let flags = try context.aggregate(
      FetchDescriptor<Parcel>(),
      by: \.flag,
      .count,
      .sum(\.number),
      .minimum(\.ratio)
    )
    #expect(store.roundTripCount == before + 1)
    #expect(flags.map(\.key) == [false, true])
    #expect(flags.map { $0.values.0 }.reduce(0, +) == 200)
  }

  @Test func `throws where the type cannot hold a sum, and goes beyond the type on the way to it`()
    throws
  {
    let context = ModelContext(container)
    var random = SeededGenerator(seed: 6)
    for number in [Int.max, Int.max] {
      let parcel = Parcel(&random)
      parcel.number = number
      parcel.wide = .max
      context.insert(parcel)
    }
    try context.save()
    #expect(throws: SwiftDataError.aggregateOverflow) {
      try context.aggregate(FetchDescriptor<Parcel>(), .sum(\.number))
    }
    #expect(throws: SwiftDataError.aggregateOverflow) {
      try context.aggregate(FetchDescriptor<Parcel>(), .sum(\.wide))
    }
    let mean = try context.aggregate(FetchDescriptor<Parcel>(), .average(\.wide))
    #expect(mean == Double(UInt64.max))
    let parcel = Parcel(&random)
    parcel.number = -Int.max
    context.insert(parcel)
    try context.save()
    #expect(try context.aggregate(FetchDescriptor<Parcel>(), .sum(\.number)) == .max)
  }

  @Test func `of no rows is zero, or nothing`() throws {
    let context = ModelContext(container)
    let (count, sum, mean, least) = try context.aggregate(
      FetchDescriptor<Parcel>(),
      .count,
      .sum(\.number),
      .average(\.number),
      .minimum(\.name)
    )
    #expect(count == 0)
    #expect(sum == 0)
    #expect(mean == nil)
    #expect(least == nil)
    #expect(try context.distinct(\Parcel.name).isEmpty)
  }

}

@Suite struct `Properties fetched from a PostgreSQL server` {
  @Test func `are columns, in order and in one round trip`() throws {
    let container = try TestNamespace().container(Journey.self, Leg.self)
    let filling = ModelContext(container)
    let places = ["e\u{301}", "\u{E9}", "b", "a", "c", "a", "d"]
    for (number, place) in places.enumerated() {
      let leg = Leg(place)
      filling.insert(leg)
      if number % 2 == 0 {
        let journey = Journey("\(number)", title: "journey \(number)")
        journey.rating = number == 0 ? .nan : Double(number)
        filling.insert(journey)
        leg.journey = journey
      }
    }
    try filling.save()
    let context = ModelContext(container)
    let store = try #require(container.stores(of: PostgresStore.self).first)
    var legs = FetchDescriptor<Leg>(
      predicate: #Predicate { $0.place != "c" },
      sortBy: [SortDescriptor(\.place)]
    )
    legs.fetchOffset = 1
    legs.fetchLimit = 5
    let before = store.roundTripCount
    let values = try context.fetch(legs, \.place, \.journey?.title, \.journey?.rating)
    #expect(store.roundTripCount == before + 1)
    let models = try context.fetch(legs)
    #expect(values.count == 5)
    for (value, model) in zip(values, models) {
      // The text as it was saved, not its normal form.
      #expect(Array(value.0.unicodeScalars) == Array(model.place.unicodeScalars))
      #expect(value.1 == model.journey?.title)
      #expect(value.2.map(\.bitPattern) == model.journey?.rating.bitPattern)
    }
  }
}

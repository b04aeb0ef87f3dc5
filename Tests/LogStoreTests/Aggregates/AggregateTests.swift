import Foundation
import LogEngine
import SwiftData
import Synchronization
import Testing

@testable import LogStore

/// Measurements of a made-up weather service.
enum Weather {
  @Model
  final class Station {
    @Attribute(.unique) var name: String
    var region: String?
    @Relationship(inverse: \Reading.station) var readings: [Reading] = []
    init(_ name: String, _ region: String?) {
      self.name = name
      self.region = region
    }
  }

  enum Sky: String, Codable { case clear, cloudy, rain }

  @Model
  class Reading {
    var place: String
    var at: Date
    var count: Int
    var big: UInt64
    var small: Int8
    var value: Double
    var wind: Double?
    var gust: Float
    var isValid: Bool
    var sky: Sky
    var serial: UUID
    var note: String?
    var station: Station?

    init(_ index: Int, _ random: inout SeededRandom) {
      let places = ["Oslo", "Ümeå", "Zu\u{308}rich", "Z\u{FC}rich", ""]
      place = places[Int.random(in: 0..<5, using: &random)]
      at = Date(
        timeIntervalSinceReferenceDate: Double(Int.random(in: 0..<20_000_000, using: &random))
      )
      count = Int.random(in: -1000...1000, using: &random)
      big = UInt64.max - UInt64.random(in: 0...5, using: &random)
      small = Int8.random(in: -100...100, using: &random)
      value = Double.random(in: -50...50, using: &random)
      wind = Bool.random(using: &random) ? nil : Double.random(in: 0...30, using: &random)
      gust = Float(Int.random(in: 0...40, using: &random))
      isValid = Bool.random(using: &random)
      sky = [Sky.clear, .cloudy, .rain][Int.random(in: 0..<3, using: &random)]
      serial = UUID()
      note = index % 7 == 0 ? nil : "note \(index % 13)"
    }
  }

  @Model
  final class Gauge: Reading {
    var depth = 0
    override init(_ index: Int, _ random: inout SeededRandom) { super.init(index, &random) }
  }
}

/// Where the rows are that are measured.
enum RowPlaces: String, CaseIterable, CustomTestStringConvertible {
  case log, packs, packsAndLog, twoThreads, unsaved, partlyUnsaved, objects

  var testDescription: String { rawValue }
}

@Suite struct `Aggregates of a context` {
  fileprivate typealias Reading = Weather.Reading

  private func withContext(
    _ places: RowPlaces,
    count: Int = 900,
    _ body: (ModelContext, [Reading]) throws -> Void
  ) throws {
    let folder = try TemporaryFolder()
    do {
      var configuration = LogStoreConfiguration(
        url: folder.url.appending(path: "weather.store"),
        durability: .relaxed
      )
      configuration.compaction = .init(.onDemand, historyByteCount: 0)
      let container = try ModelContainer(
        for: Weather.Reading.self,
        Weather.Gauge.self,
        Weather.Station.self,
        configurations: configuration
      )
      let context = ModelContext(container)
      if places == .twoThreads {
        try #require(container.stores(of: LogStore.self).first).tables.leastSharedRowCount
          .store(0, ordering: .relaxed)
      }
      var random = SeededRandom(seed: 7)
      let stations = (0..<5).map { Weather.Station("S\($0)", $0 == 4 ? nil : "R\($0 % 2)") }
      for station in stations { context.insert(station) }
      func make(_ range: Range<Int>) {
        for index in range {
          let reading = index % 4 == 1 ? Weather.Gauge(index, &random) : Reading(index, &random)
          context.insert(reading)
          if index % 6 > 0 { reading.station = stations[index % 5] }
        }
      }
      make(0..<(count / 2))
      if places != .unsaved { try context.save() }
      if places == .packs || places == .packsAndLog || places == .twoThreads {
        make((count / 2)..<(count * 3 / 4))
        try context.save()
        let store = try #require(container.stores(of: LogStore.self).first)
        try store.compact()
        #expect(!store.statistics().packs.isEmpty)
        if places != .packs {
          make((count * 3 / 4)..<count)
          for (index, reading) in try context.fetch(FetchDescriptor<Reading>()).enumerated()
          where index % 5 == 0 {
            reading.count += 1
          }
          try context.save()
        }
      } else {
        make((count / 2)..<count)
        if places == .log || places == .objects { try context.save() }
      }
      if places == .partlyUnsaved {
        for (index, reading) in try context.fetch(FetchDescriptor<Reading>()).enumerated() {
          if index % 9 == 0 { reading.place = "moved" }
          if index % 10 == 0 { context.delete(reading) }
        }
      }
      try body(context, try context.fetch(FetchDescriptor<Reading>()))
    }
  }

  /// The predicate that makes the fetch need objects, or one that columns answer.
  private func descriptor(_ places: RowPlaces, least: Int) -> FetchDescriptor<Reading> {
    var descriptor = FetchDescriptor<Reading>(predicate: #Predicate { $0.count > least })
    if places == .objects { descriptor.fetchLimit = .max - 1 }
    return descriptor
  }

  @Test(arguments: RowPlaces.allCases)
  func `are what a loop over the models finds`(places: RowPlaces) throws {
    try withContext(places) { context, models in
      let wanted = models.filter { $0.count > -300 }
      let descriptor = descriptor(places, least: -300)
      let (count, winds, sum, big, values, gusts) = try context.aggregate(
        descriptor,
        .count,
        .count(\.wind),
        .sum(\.count),
        .average(\.big),
        .sum(\.value),
        .sum(\.gust)
      )
      #expect(count == wanted.count)
      #expect(winds == wanted.count { $0.wind != nil })
      #expect(sum == wanted.reduce(0) { $0 + $1.count })
      #expect(abs((big ?? 0) / Double(UInt64.max) - 1) < 1e-12)
      #expect(abs(values - wanted.reduce(0) { $0 + $1.value }) < 1e-6)
      #expect(gusts == wanted.reduce(0) { $0 + $1.gust })
      let (least, latest, first, last, serial) = try context.aggregate(
        descriptor,
        .minimum(\.value),
        .maximum(\.at),
        .minimum(\.place),
        .maximum(\.note),
        .minimum(\.serial)
      )
      #expect(least == wanted.map(\.value).min())
      #expect(latest == wanted.map(\.at).max())
      #expect(first == wanted.map(\.place).min())
      #expect(last == wanted.compactMap(\.note).max())
      #expect(serial == wanted.map(\.serial).min())
      let (median, spread, places, skies, wind) = try context.aggregate(
        descriptor,
        .percentile(0.5, \.value),
        .standardDeviation(\.count),
        .countDistinct(\.place),
        .countDistinct(\.sky),
        .average(\.wind)
      )
      let sorted = wanted.map(\.value).sorted()
      let middle = (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
      #expect(abs((median ?? 0) - middle) < 1e-9)
      let mean = Double(sum) / Double(count)
      let variance = wanted.reduce(0) { $0 + pow(Double($1.count) - mean, 2) } / Double(count)
      #expect(abs((spread ?? 0) - variance.squareRoot()) < 1e-6)
      #expect(places == Set(wanted.map(\.place)).count)
      #expect(skies == Set(wanted.map(\.sky)).count)
      let present = wanted.compactMap(\.wind)
      #expect(abs((wind ?? 0) - present.reduce(0, +) / Double(present.count)) < 1e-9)
    }
  }

  @Test(arguments: RowPlaces.allCases)
  func `fall into the groups of a dictionary`(places: RowPlaces) throws {
    try withContext(places) { context, models in
      let all = descriptor(places, least: .min)
      let byPlace = try context.aggregate(all, by: \.place, .count, .maximum(\.count))
      let expected = Dictionary(grouping: models, by: \.place)
      #expect(byPlace.map(\.key) == expected.keys.sorted())
      for (place, (count, greatest)) in byPlace {
        #expect(count == expected[place]?.count)
        #expect(greatest == expected[place]?.map(\.count).max())
      }
      let bySky = try context.aggregate(all, by: \.sky, .sum(\.count))
      #expect(
        Dictionary(uniqueKeysWithValues: bySky.map { ($0.key, $0.values) })
          == Dictionary(grouping: models, by: \.sky).mapValues { $0.reduce(0) { $0 + $1.count } }
      )
      let byNote = try context.aggregate(all, by: \.note, .count)
      #expect(
        Dictionary(uniqueKeysWithValues: byNote.map { ($0.key, $0.values) })
          == Dictionary(grouping: models, by: \.note).mapValues(\.count)
      )
      #expect(byNote.first?.key == nil)
      let pairs = try context.aggregate(
        all,
        by: (.value(\.isValid), .value(\.small), .value(\.sky)),
        .count
      )
      var counts: [String: Int] = [:]
      for model in models {
        counts["\(model.isValid) \(model.small) \(model.sky)", default: 0] += 1
      }
      #expect(
        Dictionary(
          uniqueKeysWithValues: pairs.map { ("\($0.key.0) \($0.key.1) \($0.key.2)", $0.values) }
        )
          == counts
      )
    }
  }

  @Test(arguments: RowPlaces.allCases)
  func `follow to-one relationships, also to nothing`(places: RowPlaces) throws {
    try withContext(places) { context, models in
      let byRegion = try context.aggregate(
        descriptor(places, least: .min),
        by: \.station?.region,
        .count,
        .average(\.value)
      )
      let expected = Dictionary(grouping: models) { $0.station?.region }
      #expect(Set(byRegion.map(\.key)) == Set(expected.keys))
      for (region, (count, _)) in byRegion { #expect(count == expected[region]?.count) }
    }
  }

  @Test(arguments: [RowPlaces.log, .packs, .partlyUnsaved])
  func `fall into intervals of a calendar, and into ranges`(places: RowPlaces) throws {
    try withContext(places) { context, models in
      var calendar = Calendar(identifier: .gregorian)
      calendar.timeZone = try #require(TimeZone(identifier: "America/New_York"))
      let months = try context.aggregate(
        FetchDescriptor<Reading>(),
        by: .calendar(\.at, .month, in: calendar),
        .count
      )
      let expected = Dictionary(grouping: models) {
        calendar.dateInterval(of: .month, for: $0.at)?.start ?? $0.at
      }
      #expect(months.map(\.key) == expected.keys.sorted())
      for (month, count) in months { #expect(count == expected[month]?.count) }
      let hours = try context.aggregate(
        FetchDescriptor<Reading>(),
        by: .component(.hour, of: \.at, in: calendar),
        .count
      )
      let byHour = Dictionary(grouping: models) { calendar.component(.hour, from: $0.at) }
      #expect(hours.map(\.key) == byHour.keys.sorted())
      for (hour, count) in hours { #expect(count == byHour[hour]?.count) }
      let bands = try context.aggregate(
        FetchDescriptor<Reading>(),
        by: .ranges(of: \.wind, [0..<10, 10..<20]),
        .count
      )
      #expect(bands.map(\.key) == [nil, 0..<10, 10..<20])
      #expect(bands[1].values == models.count { 0..<10 ~= $0.wind ?? -1 })
      for ranges: [Range<Int>] in [
        [], [-1000..<0, 0..<0, 0..<500], [0..<500, -1000..<100], [-5..<5, -5..<5, 3..<900],
        (-100..<100).map { 10 * $0..<10 * $0 + 9 },
      ] {
        let groups = try context.aggregate(
          FetchDescriptor<Reading>(),
          by: .ranges(of: \.count, ranges),
          .count
        )
        let expected = Dictionary(grouping: models) { model in
          ranges.first { $0.contains(model.count) }
        }
        #expect(Dictionary(uniqueKeysWithValues: groups) == expected.mapValues(\.count))
      }
      #expect(bands[0].values == models.count { $0.wind.map { $0 >= 20 } ?? true })
    }
  }

  @Test(arguments: RowPlaces.allCases)
  func `have no group for a value that only other models have`(places: RowPlaces) throws {
    try withContext(places, count: 200) { context, readings in
      for flag in [false, true] {
        let descriptor = FetchDescriptor<Reading>(
          predicate: #Predicate { $0.isValid == flag && $0.wind != nil && $0.note != nil }
        )
        let matching = readings.filter { $0.isValid == flag && $0.wind != nil && $0.note != nil }
        #expect(try context.distinct(\.isValid, in: descriptor) == [flag])
        let groups = try context.aggregate(descriptor, by: \.isValid, .count)
        #expect(groups.map(\.key) == [flag] && groups.map(\.values) == [matching.count])
        #expect(try Set(context.distinct(\.wind, in: descriptor)) == Set(matching.map(\.wind)))
        #expect(try Set(context.distinct(\.note, in: descriptor)) == Set(matching.map(\.note)))
        #expect(
          try context.aggregate(descriptor, by: \.note, .count).map(\.values).min() ?? 0 > 0
        )
      }
    }
  }

  /// Samoa went without the thirtieth of December 2011: a week begins for its last days where it did not for its first.
  @Test(arguments: [Calendar.Component.hour, .day, .weekOfYear, .month])
  func `fall where the calendar says in a week without one of its days`(
    component: Calendar.Component
  ) throws {
    try withContext(.log, count: 200) { context, readings in
      var calendar = Calendar(identifier: .gregorian)
      calendar.timeZone = try #require(TimeZone(identifier: "Pacific/Apia"))
      let start = try #require(
        calendar.date(from: DateComponents(year: 2011, month: 12, day: 20))
      )
      for (step, reading) in readings.enumerated() {
        reading.at = start.addingTimeInterval(Double(step) * 10_800)
      }
      try context.save()
      let expected = Dictionary(grouping: readings) {
        calendar.dateInterval(of: component, for: $0.at)?.start ?? $0.at
      }
      let found = try context.aggregate(
        FetchDescriptor<Reading>(),
        by: .calendar(\.at, component, in: calendar),
        .count
      )
      #expect(found.map(\.key) == expected.keys.sorted())
      for (key, count) in found { #expect(count == expected[key]?.count) }
      let numbers = try context.aggregate(
        FetchDescriptor<Reading>(),
        by: .component(component, of: \.at, in: calendar),
        .count
      )
      let byNumber = Dictionary(grouping: readings) { calendar.component(component, from: $0.at) }
      #expect(numbers.map(\.key) == byNumber.keys.sorted())
      for (number, count) in numbers { #expect(count == byNumber[number]?.count) }
    }
  }

  /// The week in which a month ends has one number in that month, and another in the next.
  @Test(arguments: [
    Calendar.Component.second, .minute, .hour, .day, .weekday, .weekdayOrdinal, .weekOfMonth,
    .weekOfYear, .month, .quarter, .year, .yearForWeekOfYear, .era,
  ])
  func `have the number that the calendar gives to each of their dates`(
    component: Calendar.Component
  ) throws {
    try withContext(.log, count: 400) { context, readings in
      var calendar = Calendar(identifier: .gregorian)
      calendar.timeZone = .gmt
      calendar.firstWeekday = 1
      calendar.minimumDaysInFirstWeek = 1
      let start = try #require(calendar.date(from: DateComponents(year: 2023, month: 12, day: 20)))
      for (step, reading) in readings.enumerated() {
        // In no order, so that what is known of one is asked for by others.
        reading.at = start.addingTimeInterval(Double(step * 173 % 400) * 20_011)
      }
      try context.save()
      let found = try context.aggregate(
        FetchDescriptor<Reading>(),
        by: .component(component, of: \.at, in: calendar),
        .count
      )
      let expected = Dictionary(grouping: readings) { calendar.component(component, from: $0.at) }
      #expect(found.map(\.key) == expected.keys.sorted())
      for (number, count) in found { #expect(count == expected[number]?.count, "\(number)") }
    }
  }

  @Test(arguments: [Double.nan, .infinity, 1e18])
  func `say which property has a date that calendars do not reckon with`(seconds: Double) throws {
    try withContext(.log, count: 20) { context, readings in
      readings[3].at = Date(timeIntervalSinceReferenceDate: seconds)
      try context.save()
      let year = Grouping<Reading, Date>.calendar(\.at, .year, in: Calendar(identifier: .gregorian))
      let error = #expect(throws: SwiftDataError.self) {
        try context.aggregate(FetchDescriptor<Reading>(), by: year, .count)
      }
      #expect(error.map { "\($0)" }?.contains("Reading.at has a value that is in no group") == true)
    }
  }

  @Test func `of nothing are zero, nil, and no group`() throws {
    try withContext(.log) { context, _ in
      let nothing = FetchDescriptor<Reading>(predicate: #Predicate { $0.count > 5000 })
      let (count, sum, mean, least, spread) = try context.aggregate(
        nothing,
        .count,
        .sum(\.count),
        .average(\.value),
        .minimum(\.at),
        .standardDeviation(\.value)
      )
      #expect(count == 0 && sum == 0 && mean == nil && least == nil && spread == nil)
      #expect(try context.aggregate(nothing, by: \.place, .count).isEmpty)
    }
  }

  @Test(arguments: RowPlaces.allCases)
  func `throw for a sum that its type cannot hold, and do not wrap`(places: RowPlaces) throws {
    try withContext(places) { context, _ in
      #expect(throws: SwiftDataError.aggregateOverflow) {
        _ = try context.aggregate(descriptor(places, least: .min), .sum(\.big))
      }
    }
  }

  @Test func `put what is no number into one group, and leave it out of extremes`() throws {
    try withContext(.log) { context, models in
      for (index, model) in models.enumerated() {
        model.value = [.nan, -0.0, 0, 1, -.nan][index % 5]
      }
      for saved in [false, true] {
        if saved { try context.save() }
        let groups = try context.aggregate(FetchDescriptor<Reading>(), by: \.value, .count)
        #expect(groups.count == 3 && groups[0].key.isNaN)
        #expect(groups.reduce(0) { $0 + $1.values } == models.count)
        let (least, greatest, sum) = try context.aggregate(
          FetchDescriptor<Reading>(),
          .minimum(\.value),
          .maximum(\.value),
          .sum(\.value)
        )
        #expect(least == 0 && greatest == 1 && sum.isNaN)
      }
    }
  }

  @Test func `of a limited fetch are about the models that it returns`() throws {
    try withContext(.log) { context, models in
      var descriptor = FetchDescriptor<Reading>(sortBy: [SortDescriptor(\.count)])
      descriptor.fetchLimit = 10
      descriptor.fetchOffset = 5
      let expected = try context.fetch(descriptor).reduce(0) { $0 + $1.count }
      #expect(try context.aggregate(descriptor, .sum(\.count)) == expected)
    }
  }

  @Test(arguments: RowPlaces.allCases)
  func `come with columns alone, in the order of the fetch`(places: RowPlaces) throws {
    try withContext(places) { context, _ in
      var descriptor = FetchDescriptor<Reading>(
        predicate: #Predicate { $0.isValid },
        sortBy: [SortDescriptor(\.count), SortDescriptor(\.serial)]
      )
      descriptor.fetchOffset = 3
      descriptor.fetchLimit = 50
      let rows = try context.fetch(descriptor, \.place, \.wind, \.sky, \.station?.name)
      let models = try context.fetch(descriptor)
      #expect(rows.map(\.0) == models.map(\.place))
      #expect(rows.map(\.1) == models.map(\.wind))
      #expect(rows.map(\.2) == models.map(\.sky))
      #expect(rows.map(\.3) == models.map { $0.station?.name })
      let notes = try context.fetch(FetchDescriptor<Reading>()).map { $0.note ?? "" }
      let distinct: [String?] = try context.distinct(\Reading.note)
      #expect(distinct.map { $0 ?? "" } == Set(notes).sorted())
    }
  }

  @Test func `refuse a list, and say what is wanted`() throws {
    try withContext(.log, count: 10) { context, _ in
      #expect(throws: SwiftDataError.unsupportedKeyPath) {
        _ = try context.aggregate(FetchDescriptor<Weather.Station>(), .countDistinct(\.readings))
      }
    }
  }
}

// MARK: Expressions

extension Weather.Reading {
  /// A property that no column has.
  fileprivate var strength: Double { abs(value) + (wind ?? 0) }
}

extension `Aggregates of a context` {
  @Test(arguments: RowPlaces.allCases)
  func `measure what an expression makes of each model`(places: RowPlaces) throws {
    try withContext(places) { context, models in
      let wanted = models.filter { $0.count > -300 }
      let descriptor = descriptor(places, least: -300)
      let square = #Expression<Reading, Double> { $0.value * $0.value }
      let points = #Expression<Reading, Int> { $0.count * 3 - 7 }
      let doubled = #Expression<Reading, Double?> { $0.wind.flatMap { $0 * 2 } }
      let valid = #Expression<Reading, Double> { $0.isValid ? 1 : 0 }
      let label = #Expression<Reading, String> { $0.place + "/" + ($0.note ?? "none") }
      let strength = #Expression<Reading, Double> { $0.strength }
      let (squares, total, mean, winds, share) = try context.aggregate(
        descriptor,
        .sum(square),
        .sum(points),
        .average(points),
        .count(doubled),
        .average(valid)
      )
      #expect(abs(squares - wanted.reduce(0) { $0 + $1.value * $1.value }) < 1e-6)
      #expect(total == wanted.reduce(0) { $0 + $1.count * 3 - 7 })
      #expect(abs((mean ?? 0) - Double(total) / Double(wanted.count)) < 1e-9)
      #expect(winds == wanted.count { $0.wind != nil })
      #expect(
        abs((share ?? 0) - Double(wanted.count { $0.isValid }) / Double(wanted.count)) < 1e-12
      )
      let (least, greatest, labels, last, strengths) = try context.aggregate(
        descriptor,
        .minimum(points),
        .maximum(doubled),
        .countDistinct(label),
        .maximum(label),
        .sum(strength)
      )
      let ownLabels = wanted.map { $0.place + "/" + ($0.note ?? "none") }
      #expect(least == wanted.map { $0.count * 3 - 7 }.min())
      #expect(greatest == wanted.compactMap { $0.wind.map { $0 * 2 } }.max())
      #expect(labels == Set(ownLabels).count)
      #expect(last == ownLabels.max())
      #expect(abs(strengths - wanted.reduce(0) { $0 + $1.strength }) < 1e-6)
      let (median, spread) = try context.aggregate(
        descriptor,
        .percentile(0.5, points),
        .standardDeviation(points)
      )
      let (plainMedian, plainSpread) = try context.aggregate(
        descriptor,
        .percentile(0.5, \.count),
        .standardDeviation(\.count)
      )
      #expect(median == plainMedian.map { $0 * 3 - 7 })
      #expect(abs((spread ?? 0) - (plainSpread ?? 0) * 3) < 1e-6)
    }
  }

  @Test(arguments: RowPlaces.allCases)
  func `group by what an expression makes of each model`(places: RowPlaces) throws {
    try withContext(places) { context, models in
      let all = descriptor(places, least: .min)
      let rest = #Expression<Reading, Int> { $0.count % 7 }
      let region = #Expression<Reading, String> { ($0.station?.region ?? "nowhere") + "!" }
      let halves = #Expression<Reading, Int> { $0.count / 2 }
      let groups = try context.aggregate(
        all,
        by: (.value(rest), .value(region)),
        .count,
        .sum(halves)
      )
      let expected = Dictionary(grouping: models) {
        "\($0.count % 7) \(($0.station?.region ?? "nowhere") + "!")"
      }
      #expect(groups.count == expected.count)
      for group in groups {
        let members = expected["\(group.key.0) \(group.key.1)"] ?? []
        #expect(group.values.0 == members.count)
        #expect(group.values.1 == members.reduce(0) { $0 + $1.count / 2 })
      }
      let strong = #Expression<Reading, Bool> { $0.strength > 20 }
      let strengths = try context.aggregate(all, by: .value(strong), .count)
      #expect(strengths.map(\.key) == [false, true])
      #expect(strengths.last?.values == models.count { $0.strength > 20 })
    }
  }

  @Test(arguments: RowPlaces.allCases)
  func `throw where an expression has no value`(places: RowPlaces) throws {
    try withContext(places) { context, models in
      let all = descriptor(places, least: .min)
      let quotient = #Expression<Reading, Int> { 100 / ($0.count - $0.count) }
      let product = #Expression<Reading, Int> { $0.count * 9_000_000_000_000_000_000 }
      let wind = #Expression<Reading, Double> { $0.wind! }
      let computed = #Expression<Reading, Double> { $0.strength + $0.wind! }
      for body in [
        { _ = try context.aggregate(all, .sum(quotient)) },
        { _ = try context.aggregate(all, .average(product)) },
        { _ = try context.aggregate(all, .sum(wind)) },
        { _ = try context.aggregate(all, .sum(computed)) },
        { _ = try context.aggregate(all, by: .value(quotient), .count) },
      ] {
        #expect(throws: SwiftDataError.expressionFailure, performing: body)
      }
      let some = FetchDescriptor<Reading>(predicate: #Predicate { $0.wind != nil })
      let mean = try context.aggregate(some, .average(wind))
      #expect(mean == (try context.aggregate(some, .average(\.wind))))
    }
  }
}

// MARK: First and last

extension `Aggregates of a context` {
  @Test(arguments: RowPlaces.allCases)
  func `take a value of the model that is first or last by another value`(places: RowPlaces) throws
  {
    try withContext(places) { context, models in
      let wanted = models.filter { $0.count > -300 }
      let descriptor = descriptor(places, least: -300)
      try checkEnds(of: wanted, descriptor, context)
      try checkEndsOfGroups(of: wanted, descriptor, context)
    }
  }

  private func checkEnds(
    of wanted: [Reading],
    _ descriptor: FetchDescriptor<Reading>,
    _ context: ModelContext
  ) throws {
    let byDate = wanted.sorted { $0.at < $1.at }
    let bySerial = wanted.sorted { $0.serial < $1.serial }
    let byWind = wanted.filter { $0.wind != nil }.sorted { ($0.wind ?? 0) < ($1.wind ?? 0) }
    let byValue = wanted.sorted { $0.value < $1.value }
    let (first, last, note, windiest, sky) = try context.aggregate(
      descriptor,
      .first(\.value, by: \.at),
      .last(\.place, by: \.serial),
      .last(\.note, by: \.at),
      .last(\.serial, by: \.wind),
      .first(\.sky, by: \.value)
    )
    #expect(first == byDate.first?.value)
    #expect(last == bySerial.last?.place)
    #expect(note == byDate.last?.note)
    #expect(windiest == byWind.last?.serial)
    #expect(sky == byValue.first?.sky)
  }

  private func checkEndsOfGroups(
    of wanted: [Reading],
    _ descriptor: FetchDescriptor<Reading>,
    _ context: ModelContext
  ) throws {
    let groups = try context.aggregate(
      descriptor,
      by: \.station?.name,
      .last(\.value, by: \.at),
      .first(\Reading.station?.region, by: \.serial)
    )
    let expected = Dictionary(grouping: wanted) { $0.station?.name }
    #expect(Set(groups.map(\.key)) == Set(expected.keys))
    for group in groups {
      let members = expected[group.key] ?? []
      let latest = members.max { $0.at < $1.at }
      let least = members.min { $0.serial < $1.serial }
      #expect(group.values.0 == latest?.value)
      #expect(group.values.1 == least?.station?.region)
    }
  }

  @Test(arguments: [RowPlaces.log, .packsAndLog, .twoThreads, .objects])
  func `take the model that was saved first, or last, of those that are equal`(places: RowPlaces)
    throws
  {
    try withContext(places) { context, models in
      let plain = models.filter { !($0 is Weather.Gauge) }
      for model in models { model.gust = .nan }
      for (index, model) in plain.enumerated() { model.gust = [3, .nan, 3, 2, 2][index % 5] }
      try context.save()
      // In the order of their rows, as far as these are of one class.
      var descriptor = descriptor(places, least: .min)
      descriptor.predicate = #Predicate { $0.gust > 0 }
      let ordered = try context.fetch(descriptor).filter { !($0 is Weather.Gauge) }
      let (first, last) = try context.aggregate(
        descriptor,
        .first(\.serial, by: \.gust),
        .last(\.serial, by: \.gust)
      )
      #expect(first == ordered.first { $0.gust == 2 }?.serial)
      #expect(last == ordered.last { $0.gust == 3 }?.serial)
    }
  }

  @Test(arguments: [RowPlaces.log, .packsAndLog, .twoThreads, .objects])
  func
    `take the row made first, or last, of those that are equal, in whichever order they are fetched or changed`(
      places: RowPlaces
    ) throws
  {
    try withContext(places) { context, models in
      for model in models { model.gust = model is Weather.Gauge ? .nan : 1 }
      try context.save()
      var descriptor = descriptor(places, least: .min)
      descriptor.predicate = #Predicate { $0.gust > 0 }
      let rows = try context.fetch(descriptor)
      descriptor.sortBy = [SortDescriptor(\.note), SortDescriptor(\.serial, order: .reverse)]
      func check(_ comment: Comment) throws {
        let (first, last) = try context.aggregate(
          descriptor,
          .first(\.serial, by: \.gust),
          .last(\.serial, by: \.gust)
        )
        #expect(first == rows.first?.serial, comment)
        #expect(last == rows.last?.serial, comment)
      }
      try check("saved")
      // A row with unsaved changes has its place still.
      rows[0].note = "changed"
      rows[rows.count / 2].note = "changed"
      try check("changed")
      rows[rows.count - 1].note = "changed"
      try check("all changed")
    }
  }

  @Test func `take no number for first or last only where there is nothing else`() throws {
    try withContext(.log, count: 40) { context, models in
      for (index, model) in models.enumerated() { model.value = index < 20 ? .nan : Double(index) }
      for saved in [false, true] {
        if saved { try context.save() }
        let ends = try context.aggregate(
          FetchDescriptor<Reading>(),
          .first(\.value, by: \.value),
          .last(\.value, by: \.value)
        )
        #expect(ends.0 == 20 && ends.1 == 39)
        let none = FetchDescriptor<Reading>(predicate: #Predicate { !($0.value >= 0) })
        let found = try context.aggregate(none, .count, .last(\.value, by: \.value))
        #expect(found.0 == 20 && found.1?.isNaN == true)
        let empty = FetchDescriptor<Reading>(predicate: #Predicate { $0.count > 5000 })
        let (nothing, noNote) = try context.aggregate(
          empty,
          .first(\.place, by: \.at),
          .last(\.note, by: \.wind)
        )
        #expect(nothing == nil && noNote == nil)
      }
    }
  }

  @Test func `refuse an order that only a type knows`() throws {
    try withContext(.log, count: 10) { context, _ in
      #expect(throws: SwiftDataError.unsupportedKeyPath) {
        _ = try context.aggregate(FetchDescriptor<Reading>(), .first(\.place, by: \.rank))
      }
    }
  }
}

extension Weather.Reading {
  /// A property that no column has.
  fileprivate var rank: Int { count * 2 }
}

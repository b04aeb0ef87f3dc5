import Foundation
import LogEngine
import SwiftData
import Synchronization
import Testing

@testable import LogStore

@Model private final class WeighedParcel {
  var number: Int
  var weight: Double
  var address: String
  var depot: String
  var sent: Date

  init(_ number: Int, _ weight: Double, _ address: String, _ depot: String, _ sent: Date) {
    (self.number, self.weight, self.address, self.depot) = (number, weight, address, depot)
    self.sent = sent
  }
}

/// Where the rows are, and who measures them.
private enum Place: CaseIterable {
  case log, packs, twoThreads, rows, unsaved
}

/// What takes memory in proportion to the rows.
private enum LargeQuestion: CaseIterable {
  case numbers, texts, pairs, percentile, differentTexts

  func ask(_ context: ModelContext, _ descriptor: FetchDescriptor<WeighedParcel>) throws {
    switch self {
    case .numbers: _ = try context.aggregate(descriptor, by: \.number, .count)
    case .texts: _ = try context.distinct(\.address, in: descriptor)
    case .pairs:
      _ = try context.aggregate(
        descriptor,
        by: (.value(\.depot), .value(\.number)),
        .sum(\.weight)
      )
    case .percentile: _ = try context.aggregate(descriptor, .percentile(0.5, \.weight))
    case .differentTexts: _ = try context.aggregate(descriptor, .countDistinct(\.address))
    }
  }
}

@Suite struct `The memory of aggregates` {
  private let folder: TemporaryFolder
  private let url: URL

  init() throws {
    folder = try TemporaryFolder()
    url = folder.url.appending(path: "consignments.store")
  }

  private func withContext(
    _ place: Place,
    limit: Int,
    _ body: (ModelContext, FetchDescriptor<WeighedParcel>) throws -> Void
  ) throws {
    var configuration = LogStoreConfiguration(url: url, durability: .relaxed)
    configuration.compaction = .init(.onDemand, historyByteCount: 0)
    configuration.aggregateMemoryLimit = limit
    let container = try ModelContainer(for: WeighedParcel.self, configurations: configuration)
    let store = try #require(container.stores(of: LogStore.self).first)
    let context = ModelContext(container)
    let rows = (0..<4_000).map { number in
      // Some two hours apart, in no order.
      let sent = Date(timeIntervalSinceReferenceDate: Double(number * 1_777 % 4_000) * 7_919)
      let address = "Street of the parcels \(number), City"
      return (number, Double(number) / 7, address, "D\(number % 5)", sent)
    }
    if place == .unsaved {
      for row in rows { context.insert(WeighedParcel(row.0, row.1, row.2, row.3, row.4)) }
    } else {
      _ = try context.batchInsert(
        WeighedParcel.self,
        \.number,
        \.weight,
        \.address,
        \.depot,
        \.sent,
        rows: rows
      )
    }
    if place == .packs || place == .twoThreads { try store.compact() }
    store.tables.leastSharedRowCount.store(place == .twoThreads ? 0 : .max, ordering: .relaxed)
    var descriptor = FetchDescriptor<WeighedParcel>()
    if place == .rows {
      // A part that no column tells alone.
      descriptor.predicate = #Predicate { $0.address.contains($0.depot) || $0.number >= 0 }
    }
    try body(context, descriptor)
  }

  @Test(arguments: Place.allCases, LargeQuestion.allCases)
  private func `is limited`(place: Place, question: LargeQuestion) throws {
    try withContext(place, limit: 40_000) { context, descriptor in
      let error = #expect(throws: SwiftDataError.aggregateTooLarge) {
        try question.ask(context, descriptor)
      }
      #expect(error?.entityName == "WeighedParcel")
      #expect(error?.message.contains("40000 bytes") == true, "\(error?.message ?? "")")
      #expect(error?.message.contains("aggregateMemoryLimit") == true)
      // What needs less is answered, by the same context.
      let depots = try context.aggregate(
        descriptor,
        by: \.depot,
        .count,
        .sum(\.number),
        .maximum(\.address)
      )
      #expect(depots.map(\.values.0) == Array(repeating: 800, count: 5))
    }
  }

  @Test(arguments: Place.allCases, LargeQuestion.allCases)
  private func `suffices for as many groups as rows if it may`(
    place: Place,
    question: LargeQuestion
  ) throws {
    try withContext(place, limit: 64 << 20) { try question.ask($0, $1) }
  }

  /// The ranges of dates that fall into one group are remembered, so that few calendars are asked.
  @Test(arguments: [Place.log, .packs])
  private func `counts what is remembered of dates, however few groups they fall into`(
    place: Place
  ) throws {
    func count(_ context: ModelContext, _ descriptor: FetchDescriptor<WeighedParcel>) throws -> Int
    {
      var calendar = Calendar(identifier: .gregorian)
      calendar.timeZone = .gmt
      let groups = try context.aggregate(
        descriptor,
        by: .component(.second, of: \.sent, in: calendar),
        .count
      )
      #expect(groups.reduce(0) { $0 + $1.values } == 4_000)
      return groups.count
    }
    try withContext(place, limit: 40_000) { context, descriptor in
      #expect(throws: SwiftDataError.aggregateTooLarge) { try count(context, descriptor) }
    }
    try FileManager.default.removeItem(at: url)
    try withContext(place, limit: 4 << 20) { context, descriptor in
      let groups = try count(context, descriptor)
      #expect(groups == 60)
    }
  }
}

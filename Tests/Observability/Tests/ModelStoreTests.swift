import CoreMetrics
import InMemoryLogging
import LogEngine
import LogEngineObservability
import Logging
import MetricsTestKit
import SwiftData
import Testing

@Model
final class Trip {
  var name: String
  init(name: String) { self.name = name }

  /// Known to objects only.
  var length: Int { name.count }
}

@Model
final class Sighting {
  var at: Date
  init(at: Date) { self.at = at }
}

@Suite final class `A container whose store is observed` {
  private let url = FileManager.default.temporaryDirectory
    .appending(path: "observed-\(UUID().uuidString)")
  private let handler = InMemoryLogHandler()
  private let factory = TestMetrics()
  private let dimensions = [("store", "trips")]

  deinit { try? FileManager.default.removeItem(at: url) }

  private func makeContainer() throws -> ModelContainer {
    var configuration = LogStoreConfiguration("trips", url: url, durability: .relaxed)
    var logger = Logger(label: "test") { _ in handler }
    logger.logLevel = .trace
    configuration.logger = logger
    configuration.metricsFactory = factory
    return try ModelContainer(for: Trip.self, configurations: configuration)
  }

  private func count(_ name: MetricName) throws -> Int {
    try factory.expectTimer(name.rawValue, dimensions).values.count
  }

  @Test func `logs and publishes under its configuration's name`() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    #expect(handler.entries.first?.message == "store opened")
    #expect(handler.entries.first?.metadata["store"] == "trips")
    for number in 0..<7 {
      context.insert(Trip(name: "\(number)"))
      try context.save()
    }
    for _ in 0..<3 { #expect(try context.fetch(FetchDescriptor<Trip>()).count == 7) }
    #expect(try context.fetchCount(FetchDescriptor<Trip>()) == 7)
    #expect(try count(.saveDuration) == 7)
    #expect(try count(.fetchDuration) == 4)
    let store = try #require(container.stores(of: LogStore.self).first)
    try store.publishMetrics(space: .included)
    let statistics = store.statistics()
    let commits = try factory.expectCounter(MetricName.commits.rawValue, dimensions)
    #expect(commits.values.reduce(0, +) == Int64(statistics.writing.commitCount))
    let manifests = try factory.expectRecorder(
      MetricName.fileBytes.rawValue,
      dimensions + [("kind", "manifests")]
    )
    #expect(try #require(manifests.lastValue) > 0)
  }

  @Test func `counts and logs what has expired, by its entity`() async throws {
    var configuration = LogStoreConfiguration(
      "trips",
      url: url,
      expirations: [.init(Sighting.self, after: .zero, since: \.at)]
    )
    var logger = Logger(label: "test") { _ in handler }
    logger.logLevel = .debug
    configuration.logger = logger
    configuration.metricsFactory = factory
    configuration.expirationInterval = nil
    let container = try ModelContainer(for: Sighting.self, configurations: configuration)
    let context = ModelContext(container)
    for days in -3..<2 { context.insert(Sighting(at: .now + Double(days * 86_400 + 60))) }
    try context.save()
    try await container.stores(of: LogStore.self)[0].expire()
    let entity = dimensions + [("entity", "Sighting")]
    let expired = try factory.expectCounter(MetricName.expiredRows.rawValue, entity)
    #expect(expired.values == [3])
    #expect(try factory.expectRecorder(MetricName.keptExpiredRows.rawValue, entity).lastValue == 0)
    let entry = try #require(handler.entries.first { $0.message == "rows expired" })
    #expect(entry.level == .debug && entry.metadata["deleted_rows"] == "3")
  }

  @Test func `counts no failure where the store leaves something to the context`() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    context.insert(Trip(name: "Lisbon"))
    try context.save()
    // Rows have no such column: the store is asked again, without an order.
    let descriptor = FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.length)])
    #expect(try context.fetch(descriptor).count == 1)
    let failures = try factory.expectCounter(MetricName.fetchFailures.rawValue, dimensions)
    #expect(failures.values.isEmpty)
    #expect(try count(.fetchDuration) == 1)
  }
}

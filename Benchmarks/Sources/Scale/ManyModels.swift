import Foundation
import Harness
import LogEngine
import LogTools
import ModelStores
import SwiftData
import Workloads

/// Ten million models, for a quick look fewer: loaded, asked, compacted, opened again, and every one verified.
struct ManyModels {
  private let plan: Plan
  private let trips: ScatteredTrips
  private let store: URL

  init(_ plan: Plan, _ folder: URL) {
    self.plan = plan
    trips = ScatteredTrips(count: plan.choose(quick: 200_000, full: 10_000_000))
    store = folder.appending(path: "trips.logstore")
  }

  func run(_ report: Report) throws {
    var container: ModelContainer? = try open()
    if let container {
      report.add(
        try measure(.modelsLoad, "a new ModelContext for each save of 10,000", rows: trips.count) {
          try load(container)
        }
      )
      try queries(container, [.modelsCount, .modelsTop100, .modelsFetch], report)
    }
    container = nil
    report.add(try weigh(.size, "loaded and closed"))
    report.add(try compact())
    report.add(try weigh(.sizeCompacted, "StorageEngine.compact() and closed"))
    report.add(
      try measure(.modelsReopen, "a new ModelContainer, one model fetched", rows: 1) {
        container = try open()
        var descriptor = FetchDescriptor<Trip>()
        descriptor.fetchLimit = 1
        try container.map { try check(ModelContext($0).fetch(descriptor).count, is: 1) }
      }
    )
    if let container {
      let workloads: [Workload] = [.modelsCountPacked, .modelsTop100Packed, .modelsFetchPacked]
      try queries(container, workloads, report)
      report.add(
        try measure(.modelsVerify, "each enumerated, each attribute read", rows: trips.count) {
          try verify(container)
        }
      )
    }
    container = nil
    report.add(
      try measure(.modelsVerifyFiles, "StorageEngine.verify(at:)", rows: trips.count) {
        let result = try StorageEngine.verify(at: store.path)
        try check(result.isSound ? result.rowCount : -1, is: trips.count)
      }
    )
  }

  private func open() throws -> ModelContainer {
    try ModelContainer(
      for: Schema([Trip.self]),
      configurations: [LogStoreConfiguration(url: store, durability: .relaxed)]
    )
  }

  // MARK: Steps

  private func load(_ container: ModelContainer) throws {
    for batch in trips.batches {
      let context = ModelContext(container)
      for record in batch.records { context.insert(Trip(record)) }
      try context.save()
    }
  }

  /// Counts, sorts, fetches; the right answers are determined before the clock is read.
  private func queries(
    _ container: ModelContainer,
    _ workloads: [Workload],
    _ report: Report
  ) throws {
    let wanted = trips.wantedDestination
    let matches = trips.matchCount
    let earliest = trips.earliestSum(100)
    let first = trips.firstSum(100_000)
    let count = "fetchCount, a predicate over two attributes"
    report.add(
      try measure(workloads[0], count, rows: trips.count) {
        let isWanted = #Predicate<Trip> { $0.destination == wanted && $0.rating > 3 }
        let descriptor = FetchDescriptor(predicate: isWanted)
        try check(ModelContext(container).fetchCount(descriptor), is: matches)
      }
    )
    report.add(
      try measure(workloads[1], "fetch, sorted by a date, the first 100", rows: trips.count) {
        var descriptor = FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.startDate)])
        descriptor.fetchLimit = 100
        let found = try ModelContext(container).fetch(descriptor)
        try check(found.reduce(0) { $0 + $1.checksum }, is: earliest)
      }
    )
    report.add(
      try measure(workloads[2], "fetch of 100,000, each attribute read", rows: 100_000) {
        var descriptor = FetchDescriptor<Trip>()
        descriptor.fetchLimit = 100_000
        let found = try ModelContext(container).fetch(descriptor)
        try check(found.reduce(0) { $0 + $1.checksum }, is: first)
      }
    )
  }

  private func verify(_ container: ModelContainer) throws {
    var key: UInt64 = 0
    try ModelContext(container).enumerate(FetchDescriptor<Trip>(), batchSize: 10_000) { trip in
      key += 1
      try check(trip.checksum, is: trips.record(key).checksum)
    }
    try check(Int(key), is: trips.count)
  }

  private func compact() throws -> [Standing] {
    try measure(.modelsCompact, "StorageEngine.compact()", rows: trips.count) {
      let engine = try StorageEngine.open(at: store.path)
      try engine.compact()
      try engine.close()
    }
  }

  // MARK: Figures

  private func check(_ found: Int, is expected: Int) throws {
    try WrongAnswer.check(found, is: expected, .models)
  }

  private func measure(
    _ workload: Workload,
    _ work: String,
    rows: Int,
    _ body: () throws -> Void
  ) throws -> [Standing] {
    let sample = try measuringMemory {
      var sample = try timeMilliseconds(body)
      if rows > 1, let milliseconds = sample.figures[.milliseconds] {
        sample.figures[.rowsPerSecond] = Double(rows) * 1e3 / milliseconds
      }
      return sample
    }
    return try standing(workload, work, sample)
  }

  private func weigh(_ workload: Workload, _ state: String) throws -> [Standing] {
    let bytes = try allocatedBytes(in: store)
    return try standing(
      workload,
      state,
      Sample([.bytesPerRow: Double(bytes) / Double(trips.count)])
    )
  }

  private func standing(_ workload: Workload, _ work: String, _ sample: Sample) throws -> [Standing]
  {
    let settings = "ModelContext on LogStore, .relaxed, \(trips.count) models; \(work)"
    let entrant = Entrant(workload, .models, settings: settings) { sample }
    return try RoundRobin(rounds: 1, warmUp: .none, [entrant]).run()
  }
}

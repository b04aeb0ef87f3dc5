import EngineStore
import Foundation
import Harness
import LogEngine
import Workloads

/// A store whose rows are replaced all the time, with and without compaction in the background.
///
/// One thread replaces ten rows a commit, on disk at return, as fast as it goes; which rows, is drawn
/// evenly, so that no file is more dead than another and compaction has the hardest time. Latencies beside
/// a compaction are those of commits made while one was under way.
struct Overwriting {
  let plan: Plan

  private static let rowsPerCommit = 10

  private var rowCount: Int { plan.choose(quick: 100_000, full: 400_000) }
  private var seconds: Double { plan.choose(quick: 6, full: 25) }

  func run(_ report: Report) throws {
    let standings = try withFolder(plan, "overwriting") { folder in
      let path = folder.appending(path: "store").path
      try makeStore(at: path)
      return try RoundRobin(
        rounds: 1,
        warmUp: .none,
        [
          Entrant(
            .overwrite,
            .engine,
            settings:
              "\(Self.rowsPerCommit) rows a commit, on disk at return, of \(rowCount); no compaction"
          ) { try overwrite(path, .onDemand, seconds: seconds / 2) },
          Entrant(
            .overwriteCompacting,
            .engine,
            settings: "the same beside automatic compaction, for \(Int(seconds)) s; no history",
            comparedWith: .init(.overwrite, .engine),
            targets: [
              Target(.writeAmplification, .value, .atMost(2.5)),
              Target(.spaceAmplification, .value, .atMost(1.4)),
              Target(.p99Microseconds, .share, .atMost(2)),
              Target(.maximumMicroseconds, .value, .atMost(50_000)),
            ]
          ) { try overwrite(path, .automatic, seconds: seconds) },
        ]
      ).run()
    }
    report.add(standings)
  }

  private func makeStore(at path: String) throws {
    let engine = try StorageEngine.open(at: path, options: options(.automatic))
    let trips = try EngineTrips(sharing: engine)
    let generator = TripGenerator()
    for first in stride(from: 1, through: UInt64(rowCount), by: 10_000) {
      try trips.insert(generator.records(first..<(first + 10_000))[...])
    }
    try engine.compact()
    try engine.close()
  }

  private func options(_ compaction: EngineOptions.CompactionMode) -> EngineOptions {
    var options = EngineOptions()
    options.compaction = compaction
    options.history = .nothing
    return options
  }

  /// Replaces rows for some seconds.
  private func overwrite(
    _ path: String,
    _ compaction: EngineOptions.CompactionMode,
    seconds: Double
  ) throws -> Sample {
    let engine = try StorageEngine.open(at: path, options: options(compaction))
    let overwriter = try TripOverwriter(engine)
    let generator = TripGenerator()
    var random = SplitMix64(seed: monotonicNanoseconds())
    var latencies: [UInt64] = []
    latencies.reserveCapacity(1 << 20)
    let compactedBytes = try Self.packedByteCount(engine)
    var space: [Double] = []
    let begin = monotonicNanoseconds()
    let end = begin + UInt64(seconds * 1e9)
    var rows = 0
    var isCounted = compaction == .onDemand
    while monotonicNanoseconds() < end {
      var keys: Set<UInt64> = []
      while keys.count < Self.rowsPerCommit {
        keys.insert(1 + UInt64(random.next(below: rowCount)))
      }
      let records = keys.sorted().map { key in
        var record = generator.record(random.next() >> 8)
        record.id = key
        return record
      }
      if compaction == .automatic, rows % (64 * Self.rowsPerCommit) == 0 {
        isCounted = engine.statistics().compaction.isRunning
      }
      let start = monotonicNanoseconds()
      try overwriter.overwrite(records[...])
      let elapsed = monotonicNanoseconds() - start
      if isCounted { latencies.append(elapsed) }
      rows += Self.rowsPerCommit
      if rows % (2000 * Self.rowsPerCommit) == 0 {
        space.append(Double(try engine.spaceUsage().byteCount) / Double(compactedBytes))
      }
    }
    let elapsed = Double(monotonicNanoseconds() - begin) / 1e9
    let statistics = engine.statistics()
    try engine.close()
    var figures: [Metric: Double] = [.rowsPerSecond: Double(rows) / elapsed]
    if compaction == .automatic {
      figures[.writeAmplification] = statistics.writing.writeAmplification
      // Once it has come into balance.
      figures[.spaceAmplification] = space.suffix(space.count / 2).max() ?? .nan
    }
    return Sample(figures, latencies: latencies)
  }

  /// The size of the store if it is compacted wholly: the measure for its size otherwise.
  private static func packedByteCount(_ engine: StorageEngine) throws -> Int {
    try engine.compact()
    return try engine.spaceUsage()[.packs].byteCount
  }
}

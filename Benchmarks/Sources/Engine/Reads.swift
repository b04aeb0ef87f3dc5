import EngineStore
import Floor
import Foundation
import Harness
import LogEngine
import Workloads

/// Reads of random rows among a million: all columns, one column, and beside a writer.
struct Reads {
  let plan: Plan
  let pool: RecordPool

  private static let rows = 1_000_000
  private static let readsPerTurn = 50_000

  func run(_ report: Report) throws {
    try withFolder(plan, "reads") { folder in
      let trips = try EngineTrips(at: folder.appending(path: "store").path, .relaxed)
      try pool.load(trips, Self.rows)
      let floor = try FloorReads(
        path: folder.appending(path: "floor").path,
        count: Self.rows,
        pool.record
      )
      report.add(try pointReads(trips, floor))
      report.add(try besideWriter(trips))
      try trips.close()
    }
  }

  private var keys: [UInt64] {
    var random = RandomKeys(count: Self.rows, seed: 5)
    return random.next(Self.readsPerTurn)
  }

  private func pointReads(_ trips: EngineTrips, _ floor: FloorReads) throws -> [Standing] {
    let keys = keys
    let sums = keys.reduce(0) { $0 + pool.record($1).checksum }
    let ratings = keys.reduce(0) { $0 + Int(pool.record($1).rating) }
    let mapped = "a flat array of offsets, rows in one mapping"
    func entrant(
      _ workload: Workload,
      _ contender: Contender,
      _ expected: Int,
      targets: [Target] = [],
      _ read: @escaping (UInt64) throws -> Int
    ) -> Entrant {
      Entrant(
        workload,
        contender,
        settings: contender == .floor ? mapped : EngineSettings.relaxed,
        comparedWith: contender == .floor ? nil : .init(workload, .floor),
        targets: targets,
        rows: keys.count,
        expected: expected
      ) {
        try keys.reduce(0) { try $0 + read($1) }
      }
    }
    return try RoundRobin(
      rounds: plan.choose(quick: 15, full: 45),
      [
        entrant(.pointRead, .floor, sums) { floor.read($0) },
        entrant(
          .pointRead,
          .engine,
          sums,
          targets: [Target(.rowsPerSecond, .atLeast(1_000_000))],
          trips.read
        ),
        entrant(.pointReadColumn, .floor, ratings) { floor.readRating($0) },
        entrant(
          .pointReadColumn,
          .engine,
          ratings,
          targets: [Target(.rowsPerSecond, .atLeast(2_500_000))],
          trips.readRating
        ),
      ]
    ).run()
  }

  /// One reader, alone and while another thread updates without pause.
  private func besideWriter(_ trips: EngineTrips) throws -> [Standing] {
    let keys = keys
    func readAll() throws -> Sample {
      try timeRows(keys.count) { for key in keys { _ = try trips.readRating(key) } }
    }
    return try RoundRobin(
      rounds: plan.choose(quick: 9, full: 25),
      [
        Entrant(.readAlone, .engine, settings: EngineSettings.relaxed, run: readAll),
        Entrant(
          .readBesideWriter,
          .engine,
          settings: "\(EngineSettings.relaxed), updates in commits of 100 meanwhile",
          comparedWith: .init(.readAlone, .engine),
          targets: [Target(.rowsPerSecond, .share, .atLeast(0.5))]
        ) {
          let writer = writer(beside: trips.engine)
          let sample = try readAll()
          try writer.stop()
          return sample
        },
      ]
    ).run()
  }

  /// A thread that raises ratings, a hundred a commit.
  private func writer(beside engine: StorageEngine) -> Repetition {
    Repetition {
      let own = try EngineTrips(sharing: engine)
      var keys = RandomKeys(count: Self.rows, seed: 6)
      return { try own.raiseRatings(keys.next(100, distinctWithin: 100)[...]) }
    }
  }
}

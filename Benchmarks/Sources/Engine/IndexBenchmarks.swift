import EngineStore
import Floor
import Foundation
import Harness
import LogEngine
import RowFormat
import Workloads

/// The cost of the index: memory for a key, time for a look.
struct IndexBenchmarks {
  let plan: Plan
  let pool: RecordPool

  private static let lookupsPerTurn = 500_000

  func run(_ report: Report) throws {
    let rows = plan.choose(quick: 1_000_000, full: 5_000_000)
    try withFolder(plan, "index") { folder in
      let trips = try EngineTrips(at: folder.appending(path: "store").path, .relaxed)
      // Allocations that the first rows make once, buffers and all, are no part of the cost of a key.
      try pool.load(trips, 10_000)
      let before = liveHeapBytes()
      try pool.load(trips, rows - 10_000)
      let bytes = liveHeapBytes() - before
      report.add(try memory(Double(bytes) / Double(rows - 10_000), rows))
      report.add(try lookups(trips, rows))
      try trips.close()
    }
  }

  private func memory(_ bytesPerKey: Double, _ rows: Int) throws -> [Standing] {
    try RoundRobin(
      rounds: 1,
      [
        Entrant(
          .indexMemory,
          .engine,
          settings: "heap that \(rows) rows of 10,000 a commit add",
          targets: [Target(.bytesPerRow, .atMost(8.5))]
        ) {
          Sample([.bytesPerRow: bytesPerKey])
        }
      ]
    ).run()
  }

  private func lookups(_ trips: EngineTrips, _ rows: Int) throws -> [Standing] {
    let floor = FloorIndex(count: rows)
    let contains: (RowReference) throws -> Bool = trips.engine.contains
    var random = RandomKeys(count: rows, seed: 7)
    let keys = random.next(Self.lookupsPerTurn)
    func entrant(
      _ contender: Contender,
      _ settings: String,
      targets: [Target] = [],
      _ contains: @escaping (UInt64) throws -> Bool
    ) -> Entrant {
      Entrant(
        .indexLookup,
        contender,
        settings: settings,
        comparedWith: contender == .floor ? nil : .init(.indexLookup, .floor),
        targets: targets,
        rows: keys.count,
        expected: keys.count
      ) {
        try keys.reduce(0) { try contains($1) ? $0 + 1 : $0 }
      }
    }
    return try RoundRobin(
      rounds: plan.choose(quick: 9, full: 25),
      [
        entrant(.floor, "a flat array of \(rows) words", floor.contains),
        entrant(
          .engine,
          "StorageEngine.contains, \(rows) rows",
          targets: [Target(.rowsPerSecond, .share, .atLeast(1 / 1.5))],
          { try contains(trips.reference(to: $0)) }
        ),
      ]
    ).run()
  }
}

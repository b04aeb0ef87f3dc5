import EngineStore
import Floor
import Foundation
import Harness
import Workloads

/// Read-modify-write of one attribute of random rows among a million.
struct Updates {
  let plan: Plan
  let pool: RecordPool

  private static let rows = 1_000_000
  private static let updatesPerTurn = 20_000

  func run(_ report: Report) throws {
    report.add(try measure(.update1, keysPerCommit: 1, least: 400_000))
    report.add(try measure(.update100, keysPerCommit: 100, least: nil))
  }

  private func measure(
    _ workload: Workload,
    keysPerCommit: Int,
    least: Double?
  ) throws -> [Standing] {
    try withFolder(plan, workload.rawValue) { folder in
      let store = folder.appending(path: "store")
      try pool.makeStore(store, rows: Self.rows)
      let before = try EngineTrips.logByteCount(store)

      let trips = try EngineTrips(at: store.path, .relaxed)
      var random = RandomKeys(count: Self.rows, seed: 4)
      let keys = random.next(1_000_000, distinctWithin: keysPerCommit)
      var done = 0
      let ours = Entrant(
        workload,
        .engine,
        settings: EngineSettings.relaxed,
        targets: [Target(.bytesPerRow, .atMost(100))]
          + (least.map { [Target(.rowsPerSecond, .atLeast($0))] } ?? []),
        afterwards: {
          try trips.close()
          let growth = try EngineTrips.logByteCount(store) - before
          return Sample([.bytesPerRow: Double(growth) / Double(done)])
        },
        run: {
          let start = done % keys.count
          done += Self.updatesPerTurn
          return try timeRows(Self.updatesPerTurn) {
            for first in stride(from: start, to: start + Self.updatesPerTurn, by: keysPerCommit) {
              try trips.raiseRatings(keys[first..<first + keysPerCommit])
            }
          }
        }
      )
      let floor = FloorCommits(
        log: try FloorLog(path: folder.appending(path: "floor").path),
        rowsPerCommit: keysPerCommit,
        bytesPerCommit: 60 * keysPerCommit + 60
      )
      let reference = Entrant(workload, .floor, settings: "memcpy and pwrite of 60 bytes a row") {
        try timeRows(Self.updatesPerTurn) {
          for _ in 0..<Self.updatesPerTurn / keysPerCommit { try floor.commit() }
        }
      }
      return try RoundRobin(rounds: plan.choose(quick: 10, full: 49), [reference, ours]).run()
    }
  }
}

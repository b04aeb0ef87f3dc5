import EngineStore
import Floor
import Foundation
import Harness
import LogEngine
import Workloads

/// Commits that are on disk when they return, from one thread and from many.
struct DurableCommits {
  let plan: Plan
  let pool: RecordPool

  func run(_ report: Report) throws {
    report.add(try compare(.durable1, rowsPerCommit: 1, share: 0.90, withThreads: true))
    report.add(try compare(.durable10, rowsPerCommit: 10, share: 0.85))
    report.add(try compare(.durable100, rowsPerCommit: 100, share: 0.65))
    report.add(try compare(.durable10000, rowsPerCommit: 10_000, share: 0.60))
  }

  private func compare(
    _ workload: Workload,
    rowsPerCommit: Int,
    share: Double,
    withThreads: Bool = false
  ) throws -> [Standing] {
    try withFolder(plan, workload.rawValue) { folder in
      let bytes = try EngineTrips.bytesPerCommit(pool.records, rowsPerCommit, in: folder)
      let floor = FloorCommits(
        log: try FloorLog(path: folder.appending(path: "floor").path),
        rowsPerCommit: rowsPerCommit,
        bytesPerCommit: bytes
      )
      let trips = try EngineTrips(at: folder.appending(path: "store").path, .full)
      // Turns are short, so that one hiccup of the machine spoils few of them.
      let commits = rowsPerCommit >= 10_000 ? 1 : 20
      let rounds =
        rowsPerCommit >= 10_000
        ? plan.choose(quick: 15, full: 45) : plan.choose(quick: 50, full: 300)
      let least = Entrant(workload, .floor, settings: "\(FloorLog.settings), \(bytes) bytes") {
        try timeCommits(commits, rowsPerCommit: rowsPerCommit) { _ in try floor.commitDurably() }
      }
      let ours = Entrant(
        workload,
        .engine,
        settings: EngineSettings.durable,
        comparedWith: least.key,
        targets: [Target(.rowsPerSecond, .share, .atLeast(share))]
      ) {
        try timeCommits(commits, rowsPerCommit: rowsPerCommit) { number in
          let start = number * rowsPerCommit
          try trips.insert(pool.records[start..<start + rowsPerCommit])
        }
      }
      let many = withThreads ? threads(trips.engine, comparedWith: ours.key) : []
      let standings = try RoundRobin(rounds: rounds, [least, ours] + many).run()
      try trips.close()
      return standings
    }
  }

  /// Threads that commit one row at a time and share what they wait for.
  private func threads(
    _ engine: StorageEngine,
    comparedWith alone: Entrant.Key
  ) -> [Entrant] {
    let hoped: [(Workload, Int, Double)] = [
      (.durable1Threads4, 4, 1.9), (.durable1Threads8, 8, 2.5), (.durable1Threads16, 16, 3.0),
    ]
    let records = pool.records
    return hoped.map { workload, count, share in
      Entrant(
        workload,
        .engine,
        settings: "\(EngineSettings.durable), \(count) threads",
        comparedWith: alone,
        targets: [Target(.rowsPerSecond, .share, .atLeast(share))]
      ) {
        try timeOnThreads(count, commits: 50) {
          let trips = try EngineTrips(sharing: engine)
          return { try trips.insert(records[$0...$0]) }
        }
      }
    }
  }
}

import EngineStore
import Floor
import Foundation
import Harness
import Workloads

/// Commits that the kernel has when they return: the end of the process loses nothing.
struct RelaxedCommits {
  let plan: Plan
  let pool: RecordPool

  func run(_ report: Report) throws {
    report.add(try compare(.relaxed1, rowsPerCommit: 1, rows: 10_000, least: 600_000))
    report.add(try compare(.relaxed100, rowsPerCommit: 100, rows: 20_000, least: nil))
    report.add(try compare(.relaxed10000, rowsPerCommit: 10_000, rows: 20_000, least: 2_000_000))
  }

  private func compare(
    _ workload: Workload,
    rowsPerCommit: Int,
    rows: Int,
    least: Double?
  ) throws -> [Standing] {
    try withFolder(plan, workload.rawValue) { folder in
      let bytes = try EngineTrips.bytesPerCommit(pool.records, rowsPerCommit, in: folder)
      let floor = FloorCommits(
        log: try FloorLog(path: folder.appending(path: "floor").path),
        rowsPerCommit: rowsPerCommit,
        bytesPerCommit: bytes
      )
      let trips = try EngineTrips(at: folder.appending(path: "store").path, .relaxed)
      let reference = Entrant(
        workload,
        .floor,
        settings: "memcpy and \(FloorLog.settings), \(bytes) bytes"
      ) {
        try time(rows / rowsPerCommit, rowsPerCommit) { _ in try floor.commit() }
      }
      let ours = Entrant(
        workload,
        .engine,
        settings: EngineSettings.relaxed,
        comparedWith: reference.key,
        targets: least.map { [Target(.rowsPerSecond, .atLeast($0))] } ?? []
      ) {
        try time(rows / rowsPerCommit, rowsPerCommit) { number in
          let start = number * rowsPerCommit % pool.records.count
          try trips.insert(pool.records[start..<start + rowsPerCommit])
        }
      }
      let rounds = plan.choose(quick: 15, full: 75)
      let standings = try RoundRobin(rounds: rounds, [reference, ours]).run()
      try trips.close()
      return standings
    }
  }

  /// Times commits one by one, unless they are so short that looking at the clock would count.
  private func time(
    _ commits: Int,
    _ rowsPerCommit: Int,
    _ commit: (Int) throws -> Void
  ) rethrows -> Sample {
    if rowsPerCommit > 1 {
      return try timeCommits(commits, rowsPerCommit: rowsPerCommit, commit)
    }
    return try timeRows(commits) { for number in 0..<commits { try commit(number) } }
  }
}

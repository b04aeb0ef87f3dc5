import Floor
import Foundation
import GRDBPeer
import Harness
import SwiftData
import Workloads

/// Creating, inserting and saving trips, so many at a time.
struct Saves {
  private let plan: Plan
  private let records = TripGenerator().records(1..<10_001)

  init(_ plan: Plan) { self.plan = plan }

  func run(_ report: Report) throws {
    report.add(try relaxed(.relaxed1, rowsPerSave: 1, rows: 1_000, factor: 10, least: 200_000))
    report.add(
      try relaxed(.relaxed10000, rowsPerSave: 10_000, rows: 10_000, factor: 5, least: 600_000)
    )
    report.add(try durable())
  }

  /// Saves that survive the end of the process; SQLite calls that `synchronous=NORMAL`.
  ///
  /// - Parameters:
  ///   - workload: The workload.
  ///   - rowsPerSave: The number of trips in a save.
  ///   - rows: The number of trips that GRDB saves in one repetition.
  ///   - factor: The factor by which models save more, so that both are measured about as long.
  ///   - least: The rate hoped for.
  /// - Returns: The standings.
  /// - Throws: What a store throws.
  private func relaxed(
    _ workload: Workload,
    rowsPerSave: Int,
    rows: Int,
    factor: Int,
    least: Double
  ) throws -> [Standing] {
    try withFolder(plan, "relaxed") { folder in
      let models = try ModelSaver(folder, .relaxed)
      let peers = try GRDBContender.savers(folder, .normal).map { peer in
        Entrant(workload, peer.contender, settings: peer.settings) {
          try time(peer.saver, rowsPerSave: rowsPerSave, rows: rows)
        }
      }
      let ours = Entrant(
        workload,
        .models,
        settings: ModelStore.settings(.relaxed),
        comparedWith: .init(workload, .grdb),
        targets: [
          Target(.rowsPerSecond, .atLeast(least)),
          Target(.rowsPerSecond, .share, .atLeast(10)),
        ]
      ) {
        try time(models, rowsPerSave: rowsPerSave, rows: rows * factor)
      }
      return try RoundRobin(rounds: plan.choose(quick: 7, full: 15), peers + [ours]).run()
    }
  }

  /// Saves of one trip that are on disk at return.
  private func durable() throws -> [Standing] {
    try withFolder(plan, "durable") { folder in
      let floor = Saving(
        contender: .floor,
        settings: FloorLog.settings,
        saver: try FloorSaver(folder)
      )
      let models = Saving(
        contender: .models,
        settings: ModelStore.settings(.full),
        saver: try ModelSaver(folder, .full)
      )
      let all = try [floor] + GRDBContender.savers(folder, .full) + [models]
      let entrants = all.map { saving in
        Entrant(
          .durable1,
          saving.contender,
          settings: saving.settings,
          comparedWith: saving.contender == .floor ? nil : .init(.durable1, .floor),
          targets: saving.contender == .models
            ? [Target(.rowsPerSecond, .share, .atLeast(0.85))] : []
        ) {
          try timeCommits(20, rowsPerCommit: 1) { try saving.saver.save(records[$0...$0]) }
        }
      }
      return try RoundRobin(rounds: plan.choose(quick: 60, full: 200), entrants).run()
    }
  }

  private func time(_ saver: some TripSaver, rowsPerSave: Int, rows: Int) throws -> Sample {
    try timeRows(rows) {
      for start in stride(from: 0, to: rows, by: rowsPerSave) {
        let first = start % records.count
        try saver.save(records[first..<first + rowsPerSave])
      }
    }
  }
}

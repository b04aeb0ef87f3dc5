import EngineStore
import Foundation
import Harness
import Workloads

/// From nothing to the first row read, the files being in the system's cache.
struct Opening {
  let plan: Plan
  let pool: RecordPool

  func run(_ report: Report) throws {
    try withFolder(plan, "opening") { folder in
      let million = folder.appending(path: "million")
      try pool.makeStore(million, rows: 1_000_000)
      var entrants = [
        clean(.openClean, million, atMost: 5),
        try afterCrash(million, folder),
        rebuild(million, rows: 1_000_000),
      ]
      // For a quick look, ten million rows take too long to write.
      if !plan.isQuick {
        let large = folder.appending(path: "large")
        try pool.makeStore(large, rows: 10_000_000)
        entrants.append(clean(.openClean10M, large, atMost: 30))
      }
      // Each by itself: they share a store, and what one leaves open the other could not lock.
      for entrant in entrants {
        report.add(try RoundRobin(rounds: plan.choose(quick: 3, full: 7), [entrant]).run())
      }
    }
  }

  private func clean(_ workload: Workload, _ store: URL, atMost milliseconds: Double) -> Entrant {
    Entrant(
      workload,
      .engine,
      settings: "closed before; opened, one row read",
      targets: [Target(.milliseconds, .atMost(milliseconds))]
    ) {
      try open(store)
    }
  }

  /// The remains of a killed process: a copy of the files of a store that is still open, with as
  /// much after the last checkpoint as there ever is.
  private func afterCrash(_ closed: URL, _ folder: URL) throws -> Entrant {
    let running = folder.appending(path: "running")
    try FileManager.default.copyItem(at: closed, to: running)
    let trips = try EngineTrips(at: running.path, .relaxed)
    // 63 MiB at 210 bytes a row; the next rows would be followed by a checkpoint.
    try pool.load(trips, 310_000)
    let remains = folder.appending(path: "remains")
    try FileManager.default.copyItem(at: running, to: remains)
    try trips.close()
    let victim = folder.appending(path: "victim")
    return Entrant(
      .openCrash,
      .engine,
      settings: "the files of an open store, 310,000 rows (63 MiB) after its checkpoint",
      targets: [Target(.milliseconds, .atMost(250))]
    ) {
      try? FileManager.default.removeItem(at: victim)
      try FileManager.default.copyItem(at: remains, to: victim)
      return try open(victim)
    }
  }

  private func rebuild(_ store: URL, rows: Int) -> Entrant {
    let checkpoints = store.appending(path: "index")
    return Entrant(
      .openRebuild,
      .engine,
      settings: "closed before, checkpoints removed",
      targets: [Target(.nanosecondsPerRow, .atMost(100))]
    ) {
      let files = try FileManager.default.contentsOfDirectory(
        at: checkpoints,
        includingPropertiesForKeys: nil
      )
      for file in files { try FileManager.default.removeItem(at: file) }
      var sample = try open(store)
      if let milliseconds = sample.figures[.milliseconds] {
        sample.figures[.nanosecondsPerRow] = milliseconds * 1e6 / Double(rows)
      }
      return sample
    }
  }

  /// Opens a store, reads a row, and closes the store again, which is not timed.
  private func open(_ store: URL) throws -> Sample {
    var opened: EngineTrips?
    var found = 0
    let sample = try timeMilliseconds {
      let trips = try EngineTrips(at: store.path, .relaxed)
      opened = trips
      found = try trips.read(1)
    }
    try opened?.close()
    try WrongAnswer.check(found, is: pool.record(1).checksum, .engine)
    return sample
  }
}

import SwiftData
import Terminal

/// One phase of a run while it runs: saves, counts and shows its progress.
struct Phase {
  /// Number of trips that the store will hold after the next save.
  var tripsHeld = 0

  private let context: ModelContext
  private let clock = ContinuousClock()
  private let start: ContinuousClock.Instant
  private var progress: ProgressBar
  private let bytes: WrittenBytes
  private var report: PhaseReport

  init(_ name: String, total: Int, in context: ModelContext, of run: TripRun) throws {
    self.context = context
    start = clock.now
    progress = ProgressBar(name, total: total, isShown: run.showsProgress)
    bytes = WrittenBytes(run.setup)
    report = PhaseReport(name: name)
  }

  /// Saves the context, in which `count` models changed since the last save.
  mutating func save(_ count: Int) throws {
    try context.save()
    report.models += count
    report.saves += 1
    report.tripsHeld += tripsHeld
    progress.update(report.models)
  }

  /// Ends the phase.
  mutating func finish() throws -> PhaseReport {
    report.seconds = (clock.now - start).seconds
    report.bytesWritten = bytes.total()
    progress.finish()
    return report
  }
}

/// The results of a phase.
struct PhaseReport {
  let name: String
  var models = 0
  var saves = 0
  var seconds = 0.0
  /// Bytes the store wrote, or `nil` if it writes none.
  var bytesWritten: Int?
  /// The trips in the store after each save, summed up: the trips that archives would have to rewrite.
  var tripsHeld = 0
}

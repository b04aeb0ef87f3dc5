import Foundation
import SwiftData
import Terminal

/// The main job: a month's work on the store by an app that writes a lot, in one go.
///
/// Each phase works in a context of its own, as the parts of an app do: it meets what the phase
/// before it saved, and not the objects that one left in memory.
struct TripRun {
  let timetable: Timetable
  let setup: StoreSetup
  /// Number of changed trips in a save.
  let batch: Int
  let showsProgress: Bool

  init(_ timetable: Timetable, in setup: StoreSetup, batch: Int, showsProgress: Bool) {
    self.timetable = timetable
    self.setup = setup
    self.batch = batch
    self.showsProgress = showsProgress
  }

  /// Runs all phases and checks what the store then holds.
  func run() throws -> RunReport {
    var report = RunReport(setup: setup, flightCount: timetable.flights.count, batch: batch)
    var container = try setup.makeContainer()
    let found = try survey(container)
    report.foundCount = found.tripCount

    report.phases = [
      try addReferenceData(to: container),
      try importTrips(found.missing, into: container),
      try replayDays(in: container),
      try deleteCancelled(in: container),
    ]
    report.query = try findLongestDelays(in: container)

    if setup.kind != .memory {
      // A log store has one writer: the old container must be gone before the new one comes.
      _ = consume container
      (container, report.reopenSeconds) = try reopen()
    }
    report.checks = try checks(in: container, query: report.query)
    return report
  }

  /// Opens the store again and reads from it once: an opening that reads lazily shall not look free.
  private func reopen() throws -> (ModelContainer, seconds: Double) {
    let clock = ContinuousClock()
    let start = clock.now
    let container = try setup.makeContainer()
    _ = try ModelContext(container).fetchCount(FetchDescriptor<Trip>())
    return (container, (clock.now - start).seconds)
  }
}

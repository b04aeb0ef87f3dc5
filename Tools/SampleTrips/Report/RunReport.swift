import Foundation
import Terminal

/// The results of a run, to be printed.
struct RunReport {
  let setup: StoreSetup
  let flightCount: Int
  let batch: Int
  /// Number of trips that the store held before.
  var foundCount = 0
  var phases: [PhaseReport] = []
  var query = QueryReport()
  var reopenSeconds: Double?
  var checks: [Check] = []
  var archive: ArchiveSize?

  var lines: [String] {
    ["", title]
      + [phaseTable, archiveLines, queryLines, reopenLines, checkTable].flatMap {
        [""] + $0
      }
  }

  private var title: String {
    var title = "\(flightCount.grouped) flights, \(setup.kind) store, saves of \(batch.grouped)"
    if setup.kind == .log { title += ", durability \(setup.durability)" }
    if foundCount > 0 { title += "\n\(foundCount.grouped) trips were there already" }
    return title
  }

  // MARK: Phases

  private var phaseTable: [String] {
    var table = TextTable([
      .init("phase"), .init("models", .right), .init("saves", .right), .init("seconds", .right),
      .init("saves/s", .right), .init("models/s", .right), .init("written/save", .right),
      .init("archive/save", .right),
    ])
    for phase in phases where phase.saves > 0 {
      table.append([
        phase.name, phase.models.grouped, phase.saves.grouped, phase.seconds.fixed(2),
        rate(phase.saves, phase.seconds), rate(phase.models, phase.seconds),
        phase.bytesWritten.map { ($0 / phase.saves).byteCount } ?? "–",
        archive.map { ($0.bytes(rewrittenBy: phase) / phase.saves).byteCount } ?? "–",
      ])
    }
    return table.lines
  }

  private func rate(_ count: Int, _ seconds: Double) -> String {
    let rate = Double(count) / max(seconds, 1e-9)
    return rate < 100 ? rate.fixed(1) : Int(rate).grouped
  }

  private var archiveLines: [String] {
    guard let archive else { return [] }
    return [
      """
      archive/save: what a JSON archive rewrites at a save on average, \(archive.referenceBytes.byteCount) \
      and \(archive.bytesPerTrip.grouped) bytes
      for each trip then in the store, measured on an archive of \(archive.sampleCount.grouped) trips
      """
    ]
  }

  // MARK: Answers

  private var queryLines: [String] {
    var table = TextTable([.init(""), .init(""), .init(""), .init("", .right)])
    for trip in query.trips {
      let day = trip.departure.formatted(.iso8601.year().month().day())
      table.append(["  " + day, trip.name, trip.destination, "\(trip.delay.grouped) min late"])
    }
    return [
      """
      \(query.matchCount.grouped) trips left \(TripRun.queriedAirport) more than \
      \(TripRun.queriedDelay) minutes late (\(query.seconds.duration)); the worst:
      """
    ] + table.lines
  }

  private var reopenLines: [String] {
    [reopenSeconds.map { "reopened in \($0.duration)" } ?? "not reopened: nothing was kept"]
  }

  private var checkTable: [String] {
    var table = TextTable([
      .init("check"), .init("CSV", .right), .init("store", .right), .init(""),
    ])
    for check in checks {
      let verdict = check.holds ? "ok" : "DIFFERS"
      table.append([check.what, check.expected.grouped, check.found.grouped, verdict])
    }
    return table.lines
  }
}

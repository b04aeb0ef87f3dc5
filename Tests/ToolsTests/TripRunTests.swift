import Foundation
import SwiftData
import Terminal
import Testing

@testable import SampleTrips

/// Everything one run needs, in a folder of its own.
private struct Bench {
  let folder: TemporaryFolder
  let kind: StoreKind

  init(_ kind: StoreKind) throws {
    folder = try TemporaryFolder()
    self.kind = kind
  }

  func timetable(days: Int) throws -> Timetable {
    let file = try folder.write(FlightRows.file(days: days), to: "flights-\(days).csv")
    return try Timetable(csv: file) { Issue.record("\($0)") }
  }

  func run(_ timetable: Timetable, batch: Int = 1000) throws -> TripRun {
    let place = try StorePlace(kind: kind, path: folder.path("store"))
    return TripRun(
      timetable,
      in: StoreSetup(kind: kind, place: place),
      batch: batch,
      showsProgress: false
    )
  }
}

private func phase(_ name: String, of report: RunReport) throws -> PhaseReport {
  try #require(report.phases.first { $0.name == name })
}

@Suite struct `A run` {
  @Test(arguments: StoreKind.allCases.filter { $0 != .postgres })
  func `ends with a store that holds what the CSV says`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    let report = try bench.run(bench.timetable(days: 4)).run()
    #expect(report.checks.filter { !$0.holds }.map(\.description) == [])
    #expect(report.checks.first { $0.what == "trips" }?.expected == 8)
    #expect(report.query.trips.map(\.delay) == [64, 63, 62, 61])
    #expect((report.reopenSeconds == nil) == (kind == .memory))
  }

  @Test(.enabled(if: !StoreKind.hasPostgres))
  func `on a server needs a build that knows servers`() {
    let error = #expect(throws: ToolError.self) {
      try StorePlace(kind: .postgres, path: "postgresql://nobody:secret@localhost/nothing")
    }
    #expect(error?.what == "this build knows no servers")
    #expect(error.map { "\($0)".contains("secret") } == false)
  }

  @Test(arguments: [(1, 12), (5, 3), (12, 1), (Int.max, 1)])
  func `saves as many trips at once as it is told`(batch: Int, saves: Int) throws {
    let bench = try Bench(.memory)
    let report = try bench.run(bench.timetable(days: 4), batch: batch).run()
    #expect(try phase("import", of: report).saves == saves)
    #expect(try phase("import", of: report).models == 12)
    #expect(try phase("replay", of: report).models == 8)
    #expect(try phase("cancel", of: report).models == 4)
  }

  @Test(arguments: [StoreKind.log, .json])
  func `goes on where one that was killed in the import had come`(kind: StoreKind) throws {
    let bench = try Bench(kind)
    let run = try bench.run(bench.timetable(days: 4))
    do {
      let container = try run.setup.makeContainer()
      _ = try run.addReferenceData(to: container)
      _ = try run.importTrips([0, 1, 2, 3, 4], into: container)
    }
    let report = try run.run()
    #expect(report.foundCount == 5)
    #expect(try phase("import", of: report).models == 7)
    #expect(try phase("reference", of: report).saves == 0)
    #expect(report.checks.filter { !$0.holds }.map(\.description) == [])
  }

  @Test func `goes on where one that was killed in the replay had come`() throws {
    let bench = try Bench(.log)
    let run = try bench.run(bench.timetable(days: 4))
    do {
      let container = try run.setup.makeContainer()
      _ = try run.addReferenceData(to: container)
      _ = try run.importTrips(Array(run.timetable.flights.indices), into: container)
      _ = try bench.run(run.timetable.prefix(3)).replayDays(in: container)
    }
    let report = try run.run()
    #expect(report.foundCount == 12)
    #expect(try phase("import", of: report).models == 0)
    #expect(try phase("replay", of: report).models == 6)
    #expect(report.checks.filter { !$0.holds }.map(\.description) == [])
  }

  @Test func `adds the days that a longer file brings`() throws {
    let bench = try Bench(.log)
    _ = try bench.run(bench.timetable(days: 2)).run()
    let report = try bench.run(bench.timetable(days: 4)).run()
    #expect(report.foundCount == 4)
    #expect(try phase("replay", of: report).models == 4)
    #expect(report.checks.filter { !$0.holds }.map(\.description) == [])
  }

  @Test func `finds nothing to do in a store of a finished one`() throws {
    let bench = try Bench(.log)
    let run = try bench.run(bench.timetable(days: 3))
    _ = try run.run()
    let report = try run.run()
    #expect(report.phases.map(\.models) == [0, 0, 0, 0])
    #expect(report.checks.filter { !$0.holds }.map(\.description) == [])
  }

  @Test func `refuses a store with trips of another file`() throws {
    let bench = try Bench(.log)
    _ = try bench.run(bench.timetable(days: 3)).run()
    let error = #expect(throws: ToolError.self) { try bench.run(bench.timetable(days: 2)).run() }
    #expect(error?.found == "2 others, such as AA 1 from JFK")
  }
}

@Suite struct `A part of a run` {
  @Test(arguments: ["", "1", "0/4", "5/4", "1/0", "a/4", "1/4/2", "-1/4", "1/1001"])
  func `is not made of what is none`(text: String) { #expect(Part(text) == nil) }

  @Test func `has each flight in one of the parts`() throws {
    let parts = try (1...3).map { try #require(Part("\($0)/3")) }
    for index in 0..<10 { #expect(parts.count { $0.has(index) } == 1) }
  }

  @Test func `leaves the checks to a run that comes after all parts`() throws {
    let bench = try Bench(.log)
    let timetable = try bench.timetable(days: 4)
    for text in ["1/3", "3/3", "2/3", "2/3"] {
      var setup = try bench.run(timetable).setup
      setup.isShared = true
      let run = TripRun(timetable, in: setup, batch: 2, showsProgress: false)
      _ = try run.run(try #require(Part(text)))
    }
    let report = try bench.run(timetable).run()
    #expect(try phase("import", of: report).models == 0)
    #expect(try phase("replay", of: report).models == 0)
    #expect(report.checks.filter { !$0.holds }.map(\.description) == [])
  }
}

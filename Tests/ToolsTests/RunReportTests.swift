import Foundation
import Testing

@testable import SampleTrips

@Suite struct `A run's report` {
  private func report() throws -> RunReport {
    let place = try StorePlace(kind: .log, path: "/tmp/trips.store")
    var report = RunReport(
      setup: StoreSetup(kind: .log, place: place),
      flightCount: 27_004,
      batch: 1000
    )
    report.foundCount = 12_000
    report.phases = [
      PhaseReport(name: "reference"),
      PhaseReport(
        name: "import",
        models: 27_004,
        saves: 28,
        seconds: 0.5,
        bytesWritten: 28 * 150_000,
        tripsHeld: 28 * 13_000
      ),
      PhaseReport(name: "replay", models: 26_483, saves: 27, seconds: 300, tripsHeld: 27 * 27_004),
    ]
    report.query.matchCount = 3
    report.query.seconds = 0.0123
    report.query.trips = [
      ("HA 51", "Honolulu Intl", Date(timeIntervalSince1970: 1_357_743_600), 1301),
      ("B6 1", "Fort Lauderdale", Date(timeIntervalSince1970: 1_357_743_600), 99),
    ]
    report.reopenSeconds = 0.0042
    report.checks = [
      Check(what: "trips", expected: 26_483, found: 26_483),
      Check(what: "airlines", expected: 16, found: 15),
    ]
    report.archive = ArchiveSize(referenceBytes: 1_000_000, bytesPerTrip: 700, sampleCount: 1000)
    return report
  }

  @Test func `is aligned, and says what an archive would have rewritten`() throws {
    #expect(
      try report().lines.joined(separator: "\n") == """

        27,004 flights, log store, saves of 1,000, durability full
        12,000 trips were there already

        phase   models  saves  seconds  saves/s  models/s  written/save  archive/save
        import  27,004     28     0.50     56.0    54,008     146.5 KiB       9.6 MiB
        replay  26,483     27   300.00      0.1      88.3             –      19.0 MiB

        archive/save: what a JSON archive rewrites at a save on average, 976.6 KiB and 700 bytes
        for each trip then in the store, measured on an archive of 1,000 trips

        3 trips left JFK more than 60 minutes late (12.3 ms); the worst:
          2013-01-09  HA 51  Honolulu Intl    1,301 min late
          2013-01-09  B6 1   Fort Lauderdale     99 min late

        reopened in 4.2 ms

        check        CSV   store
        trips     26,483  26,483  ok
        airlines      16      15  DIFFERS
        """
    )
  }
}

import ArgumentParser
import Foundation
import Terminal

/// The command line of the sample; ``TripRun`` is what it does.
@main
struct SampleTripsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "SampleTrips",
    abstract: "Runs real flights through SwiftData models like an app that writes a lot.",
    discussion: """
      Imports the flights of a CSV file as trips, in saves of a chosen size; replays the days, so that \
      each trip learns its actual departure and delay; deletes the cancelled ones; queries; closes; \
      opens again; and checks every count against the CSV. Without --csv the flights that left New \
      York City in January 2013 are used, which are bundled.

      A store that was kept with --url and already holds trips is continued: only the flights that are \
      missing are imported, and only the trips without a departure are replayed. On a server, trips are in the \
      schema sample_trips and stay there.

      With --part K/N only the K-th of N parts of the flights is imported and replayed, beside other processes that \
      do the same with the others; a run without it then deletes the cancelled ones and checks. With --watch the \
      trips are counted again each time another process has saved, until all have departed. Tools/together starts \
      some of each.

      EXAMPLES:
        SampleTrips
        SampleTrips --store json --batch 1000
        SampleTrips --csv flights.csv --batch 100 --durability relaxed
        SampleTrips --url /tmp/trips.store
        SampleTrips --url /tmp/trips.store --part 2/4
        SampleTrips --store postgres --url postgresql://app@db.example.com/trips

      \(ExitStatus.help)
      """
  )

  @Option(help: "The store: log, json, memory, or postgres in a build with the trait PostgreSQL.")
  var store: StoreKind = .log

  @Option(
    help: ArgumentHelp(
      "Where the store stays when the run is over, or the address of a server; a temporary place that is removed, if not given.",
      valueName: "path"
    )
  )
  var url: String?

  @Option(help: ArgumentHelp("How many changed trips one save holds.", valueName: "n"))
  var batch = 1000

  @Option(
    help: ArgumentHelp(
      "A flights.csv with the columns of nycflights13, of any length.",
      valueName: "file"
    )
  )
  var csv: String?

  @Option(
    help: """
      What a save of the log store survives: full (power loss) or relaxed (the end of the process).
      """
  )
  var durability: SaveDurability = .full

  @Option(
    help: ArgumentHelp(
      "Which part of the flights to import and replay, beside other processes.",
      valueName: "k/n"
    )
  )
  var part: Part?

  @Flag(help: "Import nothing, and show what other processes save.")
  var watch = false

  @Flag(help: "Print the checks that do not hold, and nothing else.")
  var quiet = false

  func validate() throws {
    guard batch > 0 else { throw ValidationError("--batch must be at least 1.") }
    guard store != .memory || url == nil else {
      throw ValidationError("--url has no meaning for a store in memory.")
    }
    guard part == nil && !watch || store == .log && url != nil else {
      throw ValidationError(
        "--part and --watch need the log store that others have, named by --url."
      )
    }
    guard part == nil || !watch else {
      throw ValidationError("--part and --watch are for two processes.")
    }
  }

  func run() throws {
    let timetable = try Timetable(csv: csv, notice: Terminal.notice)
    let place = try StorePlace(kind: store, path: url)
    defer { place.removeIfTemporary() }
    var setup = StoreSetup(kind: store, place: place, durability: durability)
    setup.isShared = part != nil || watch
    let run = TripRun(
      timetable,
      in: setup,
      batch: batch,
      showsProgress: Terminal.errorIsWatched && !quiet
    )
    if watch {
      return try explainingStoreErrors(at: place) { try run.watch { print($0) } }
    }
    if let part {
      let phases = try explainingStoreErrors(at: place) { try run.run(part) }
      if !quiet {
        for phase in phases where phase.saves > 0 {
          print("\(phase.name): \(phase.models.grouped) models in \(phase.saves.grouped) saves")
        }
      }
      return
    }
    var report = try explainingStoreErrors(at: place) { try run.run() }
    if !quiet {
      report.archive = try ArchiveSize(measuredWith: timetable)
      report.lines.forEach { print($0) }
    }
    guard report.checks.allSatisfy(\.holds) else {
      throw ToolError(
        "the store does not hold what the CSV says",
        place: place.name,
        found: report.checks.filter { !$0.holds }.map(\.description).joined(separator: "\n"),
        status: .checkFailed
      )
    }
  }

  static func main() { runToExit() }
}

extension StoreKind: ExpressibleByArgument {}
extension SaveDurability: ExpressibleByArgument {}

extension Part: ExpressibleByArgument {
  init?(argument: String) { self.init(argument) }
}

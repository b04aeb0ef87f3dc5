import ArgumentParser
import Foundation
import LogStore
import SchedulePoints
import Synchronization

@main
struct Simulate: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "simulate",
    abstract: "Runs programs over one store, step by step, beside an oracle in plain Swift.",
    discussion: """
      Each seed draws contexts and the steps of a program: inserts, changes, deletes, relationships of every shape, \
      fetches by every call, saves, rollbacks, undo, merges and reopenings. After the steps, what contexts show and \
      what is stored is compared with an oracle. A schedule that fails is cut down and printed as Swift.
      """,
    subcommands: [Run.self, Work.self, Replay.self],
    defaultSubcommand: Run.self
  )
}

extension PlantedFault: ExpressibleByArgument {}

extension ScheduleKind: ExpressibleByArgument {
  fileprivate static var allNames: String { allCases.map(\.rawValue).joined(separator: ", ") }
}

extension Simulate {
  struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Runs the schedules of many seeds.")

    @Option(help: "How many schedules to run.")
    var seeds = 10_000

    @Option(help: "The first seed.")
    var first: UInt64 = 1

    @Option(help: "One class of schedules: \(ScheduleKind.allNames).")
    var only: ScheduleKind?

    @Option(help: "How many steps a schedule has.")
    var steps = 60

    @Option(help: "How many schedules run at once.")
    var workers = ProcessInfo.processInfo.activeProcessorCount

    @Option(help: "How many violations of a sort are cut down and printed.")
    var printed = 3

    @Flag(help: "Take out one mend after the other, and see whether it is missed.")
    var planted = false

    @Flag(help: "Check isolation instead: threads at full speed, and a checker of their history.")
    var isolation = false

    @Option(help: "For how long --isolation runs.")
    var seconds = 10

    @Option(help: "Print what one seed does, as Swift, and whether it fails.")
    var seedScript: UInt64?

    func validate() throws {
      for (name, value) in [("seeds", seeds), ("steps", steps), ("workers", workers)] {
        guard value >= 1 else {
          throw ValidationError("--\(name) must be at least 1, and is \(value).")
        }
      }
    }

    func run() async throws {
      let folder = try Scratch()
      defer { folder.remove() }
      KeptIndexes.simulate()
      if let seedScript { return printScript(seedScript, in: folder.url) }
      if isolation { return try checkIsolation(in: folder.url) }
      var options = Campaign.Options(
        first: first,
        count: seeds,
        kind: only,
        stepCount: steps,
        workerCount: min(workers, seeds),
        printed: printed
      )
      if planted {
        var caught = 0
        for fault in PlantedFault.allCases {
          options.fault = fault
          options.printed = 0
          options.stopsAtViolation = true
          let campaign = Campaign(options, in: folder.url)
          await campaign.run()
          if campaign.violationCount > 0 { caught += 1 }
          print(
            "\(fault.rawValue): "
              + (campaign.firstViolation.map { "caught: \($0)" } ?? "not caught")
          )
        }
        print("\(PlantedFault.allCases.count) faults, \(caught) caught")
        if caught < PlantedFault.allCases.count { throw ExitCode.failure }
        return
      }
      let campaign = Campaign(options, in: folder.url)
      await campaign.run()
      campaign.printSummary()
      print("\(campaign.scheduleCount) schedules, \(campaign.violationCount) violations")
      if campaign.violationCount > 0 { throw ExitCode.failure }
    }

    private func checkIsolation(in folder: URL) throws {
      let run = IsolationRun(in: folder, seed: first)
      let result = try run.run(for: .seconds(seconds), threadCount: max(workers, 4))
      for problem in result.problems.prefix(20) { print("violation: \(problem)") }
      print("\(result.rounds) openings, \(result.saves) saves of registers")
      print("\(result.fetches) fetches, \(result.problems.count) violations")
      if !result.problems.isEmpty { throw ExitCode.failure }
    }

    private func printScript(_ seed: UInt64, in folder: URL) {
      let (schedule, violation) = Schedule.draw(
        seed: seed,
        kind: only ?? ScheduleKind.of(seed: seed),
        stepCount: steps,
        in: folder
      )
      print(schedule.swift)
      if let violation { print("// step \(violation.step): \(violation)") }
    }
  }

  /// Runs seeds for a campaign.
  struct Work: ParsableCommand {
    static let configuration = CommandConfiguration(shouldDisplay: false)

    @Option var from: UInt64
    @Option var through: UInt64
    @Option var step: UInt64
    @Option var steps: Int
    @Option var folder: String
    @Option var beacon: String
    @Option var only: ScheduleKind?
    @Option var fault: PlantedFault?

    func run() {
      fault?.plant()
      KeptIndexes.simulate()
      Worker(
        seeds: stride(from: from, through: through, by: UInt64.Stride(step)),
        kind: only,
        stepCount: steps,
        folder: URL(filePath: folder),
        beacon: Beacon(path: beacon)
      ).run()
    }
  }

  /// Runs a schedule from a file, for shrinking.
  struct Replay: ParsableCommand {
    static let configuration = CommandConfiguration(shouldDisplay: false)

    @Argument var file: String
    @Option var folder: String
    @Option var name = "replay"
    @Option var fault: PlantedFault?

    func run() throws {
      fault?.plant()
      KeptIndexes.simulate()
      let schedule = try JSONDecoder().decode(
        Schedule.self,
        from: Data(contentsOf: URL(filePath: file))
      )
      let violation = schedule.run(in: URL(filePath: folder), name: name, orders: 12)
      Report(seed: 0, violation: violation).write()
    }
  }
}

/// A folder for the stores of a run: in memory, where there is one.
struct Scratch {
  let url: URL

  init() throws {
    let memory = URL(filePath: "/dev/shm")
    let parent =
      FileManager.default.isWritableFile(atPath: memory.path)
      ? memory : FileManager.default.temporaryDirectory
    url = parent.appending(path: "simulate-\(getpid())")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  func remove() { try? FileManager.default.removeItem(at: url) }
}

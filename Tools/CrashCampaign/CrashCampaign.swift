import ArgumentParser
import Foundation
import LogEngineTestSupport
import Synchronization

@main
struct CrashCampaign: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "crashtest",
    abstract: "Crashes stores on a simulated disk in every way it knows, and opens what is left.",
    discussion: """
      Each seed makes a workload and the disk it runs on; seeds are counted up from --seed until \
      enough different states have been opened. A violation names its area and seed: to see it again, \
      run with --only AREA --seed SEED --states 1.
      """
  )

  @Option(help: "How many different states of the disk to open.")
  var states = 1_000_000

  @Option(help: "The first seed.")
  var seed: UInt64 = 1

  @Option(
    help: "One way to harm a store: \(Area.allCases.map(\.rawValue).joined(separator: ", "))."
  )
  var only: Area?

  @Flag(help: "Stop after the first seed that shows a violation.")
  var untilViolation = false

  @Option(help: "How many seeds are worked on at once.")
  var workers = ProcessInfo.processInfo.activeProcessorCount

  func validate() throws {
    for (name, value) in [("states", states), ("workers", workers)] {
      guard value >= 1 else {
        throw ValidationError("--\(name) must be at least 1, and is \(value).")
      }
    }
  }

  func run() async throws {
    let start = ContinuousClock.now
    let tally = Tally(first: seed, goal: states, stopsAtViolation: untilViolation)
    await withTaskGroup { group in
      for worker in 0..<workers {
        group.addTask { [only] in
          while let seed = tally.nextSeed() {
            let area = only ?? Area.of(seed: seed)
            Beacon.light(worker, area, seed)
            tally.add(area.run(seed: seed), of: area)
          }
        }
      }
    }
    tally.report(elapsed: ContinuousClock.now - start)
    if tally.violationCount > 0 { throw ExitCode.failure }
  }
}

extension Area: ExpressibleByArgument {}

extension Area {
  /// The area a seed is used for when none is named: half of them for power cuts.
  static func of(seed: UInt64) -> Area {
    if seed % 16 == 15 { return .blobs }
    return switch seed % 8 {
    case 0...3: .powercut
    case 4, 5: .errors
    case 6: .space
    default: seed / 8 % 2 == 0 ? .rot : .forgery
    }
  }
}

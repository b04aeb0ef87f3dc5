import Foundation
import Harness

/// The cost of many stores that one process has open at once: memory, descriptors, threads, bytes on the disk.
///
/// Each gets one row. The figures of a store are those of the stores opened since the line before, once the threads that
/// opened and saved them are idle; its bytes on the disk are those of all stores.
struct ManyStores {
  private let plan: Plan
  private let counts: [Int]

  init(_ plan: Plan) {
    self.plan = plan
    counts = plan.choose(quick: [1_000], full: [1_000, 10_000])
  }

  func run(_ report: Report) throws {
    var figures: [Workload: [Entrant]] = [:]
    for (contender, settings) in TenantContender.all {
      for (workload, sample) in try measure(contender) {
        let targets =
          contender == .models
          ? [Target(.bytesPerStore, .atMost(60_000)), Target(.diskBytesPerStore, .atMost(65_536))]
          : []
        figures[workload, default: []].append(
          Entrant(
            workload,
            contender,
            settings: settings,
            comparedWith: contender == .models ? .init(workload, .sqlite) : nil,
            targets: targets
          ) { sample }
        )
      }
    }
    for count in counts {
      guard let workload = Workload(rawValue: "stores-\(count)"), let entrants = figures[workload]
      else { continue }
      report.add(try RoundRobin(rounds: 1, warmUp: .none, entrants).run())
    }
  }

  private func measure(_ contender: Contender) throws -> [(Workload, Sample)] {
    try withFolder(plan, contender.rawValue) { folder in
      let child = try Companion([contender.rawValue, folder.path] + counts.map { "\($0)" })
      var found: [(Workload, Sample)] = []
      while let told = try child.nextFigures() {
        if let workload = Workload(rawValue: told.workload) {
          found.append((workload, told.sample))
        }
      }
      guard child.finish().ending == .done else { throw CompanionFailure(contender) }
      return found
    }
  }
}

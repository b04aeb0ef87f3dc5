import Foundation
import Harness
import ModelStores
import PeerStores

/// Stores of ten times the memory that their processes may have, contenders one after the other.
///
/// LOGSTORE_BENCHMARK_CONTENDERS, a list with spaces, chooses among the contenders.
struct LargerThanMemory {
  private let plan: Plan
  private let size: Size

  init(_ plan: Plan) {
    self.plan = plan
    size = Size(plan)
  }

  static func peers(_ size: Size) -> [Peer] {
    let confined = Peer.confined(toMebibytes: size.mebibytes)
    return confined.prefix(1) + [.models] + confined.dropFirst()
  }

  /// The figures that the process of one contender reported before it ended.
  private struct Outcome {
    let peer: Peer
    var figures: [Workload: Sample] = [:]
    /// The ending of its process, if it came before its time.
    var failure: String?
  }

  func run(_ report: Report) throws {
    guard ControlGroup(mebibytes: size.mebibytes) != nil else {
      return report.note("memory: left out; it takes root and control groups of memory")
    }
    let environment = ProcessInfo.processInfo.environment["LOGSTORE_BENCHMARK_CONTENDERS"] ?? ""
    let chosen = environment.split(separator: " ").map(String.init)
    var outcomes: [Outcome] = []
    for peer in Self.peers(size)
    where chosen.isEmpty || chosen.contains(peer.contender.rawValue) {
      outcomes.append(try live(peer))
    }
    for workload in Self.workloads {
      let entrants = outcomes.compactMap { entrant(workload, $0) }
      report.add(try RoundRobin(rounds: 1, warmUp: .none, entrants).run())
    }
    for outcome in outcomes {
      guard let failure = outcome.failure else { continue }
      report.note("\(outcome.peer.contender.rawValue) did not live to the end: \(failure)")
    }
    guard outcomes.contains(where: { Self.isOurs($0.peer) && $0.failure != nil }) else { return }
    // The figures until then are worth having.
    try report.finish()
    exit(1)
  }

  private static func isOurs(_ peer: Peer) -> Bool {
    [.engine, .models].contains(peer.contender)
  }

  /// Lets a contender live in a process of its own, and watches its memory.
  private func live(_ peer: Peer) throws -> Outcome {
    try withFolder(plan, "memory") { folder in
      guard let group = ControlGroup(mebibytes: size.mebibytes) else { throw NoControlGroup() }
      let place = folder.appending(path: peer.contender.rawValue)
      let child = try Companion(ConfinedTask(peer.contender, size, place, group.path).arguments)
      let watch = MemoryWatch(group)
      var outcome = Outcome(peer: peer)
      while let told = try child.nextFigures() {
        guard let workload = Workload(rawValue: told.workload) else { continue }
        outcome.figures[workload] = told.sample
        Progress.say("\(peer.contender.rawValue) \(told.workload)")
      }
      outcome.figures[.largerThanMemoryPeak] = Sample([
        .anonymousMegabytes: watch.stop(), .peakMegabytes: group.peakMegabytes,
      ])
      switch child.finish().ending {
      case .done: break
      case .failed(let status): outcome.failure = "exit code \(status)"
      case .killed(let signal):
        let next = Self.workloads.first { outcome.figures[$0] == nil }
        outcome.failure = "signal \(signal) in \(next?.rawValue ?? "its last check")"
      }
      return outcome
    }
  }

  private func entrant(_ workload: Workload, _ outcome: Outcome) -> Entrant? {
    guard let sample = outcome.figures[workload] else { return nil }
    let isOurs = Self.isOurs(outcome.peer)
    var targets: [Target] = []
    if isOurs, workload == .largerThanMemoryUniform {
      targets.append(Target(.rowsPerSecond, .share, .atLeast(1)))
    }
    if isOurs, workload == .largerThanMemoryZipfian {
      targets.append(Target(.rowsPerSecond, .atLeast(20_000)))
    }
    return Entrant(
      workload,
      outcome.peer.contender,
      settings:
        "\(outcome.peer.settings(.relaxed)); \(size.rows) rows of 1 KB in a control group of \(size.mebibytes) MiB",
      comparedWith: isOurs ? .init(workload, .sqlite) : nil,
      targets: targets
    ) { sample }
  }

  // In the order in which a process reports them.
  private static let workloads: [Workload] = [
    .largerThanMemoryLoad, .largerThanMemoryUniform, .largerThanMemoryZipfian,
    .largerThanMemoryMixed, .largerThanMemoryCompact, .largerThanMemorySize,
    .largerThanMemoryOpen, .largerThanMemoryUniformCompacted, .largerThanMemoryScan,
    .largerThanMemoryVerify, .largerThanMemoryPeak,
  ]
}

/// There was a control group a moment ago, and now none can be made.
struct NoControlGroup: Error {}

import Foundation
import SchedulePoints
import Synchronization

/// Runs many seeds in processes of their own, so that a crash takes nothing with it, and shrinks the failing
/// schedules.
final class Campaign: Sendable {
  struct Options: Sendable {
    var first: UInt64
    var count: Int
    var kind: ScheduleKind?
    var stepCount: Int
    var workerCount: Int
    /// Limit of the number of violations of a sort that are shrunk and printed.
    var printed: Int
    var stopsAtViolation = false
    var fault: PlantedFault?
  }

  private struct State: Sendable {
    var scheduleCount = 0
    var violations: [Violation.Sort: Int] = [:]
    var violationCount = 0
    var firstViolation: String?
  }

  let options: Options
  let folder: URL
  private let state = Mutex(State())
  private let isTerminal = isatty(STDERR_FILENO) == 1

  init(_ options: Options, in folder: URL) {
    self.options = options
    self.folder = folder
  }

  var scheduleCount: Int { state.withLock { $0.scheduleCount } }
  var violationCount: Int { state.withLock { $0.violationCount } }

  func run() async {
    await withTaskGroup { group in
      for worker in 0..<options.workerCount {
        group.addTask {
          await withCheckedContinuation { done in
            let thread = Thread {
              self.work(worker)
              done.resume()
            }
            thread.stackSize = 4 << 20
            thread.start()
          }
        }
      }
    }
    if isTerminal { try? FileHandle.standardError.write(contentsOf: Data("\r\u{1B}[K".utf8)) }
  }

  /// The first violation that was found.
  var firstViolation: String? { state.withLock { $0.firstViolation } }

  /// Prints the number of violations of each sort.
  func printSummary() {
    let state = state.withLock { $0 }
    for (sort, count) in state.violations.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      print("\(sort.rawValue): \(count)")
    }
  }

  private func work(_ worker: Int) {
    let step = UInt64(options.workerCount)
    let end = options.first + UInt64(options.count)
    var seed = options.first + UInt64(worker)
    while seed < end, !(options.stopsAtViolation && violationCount > 0) {
      // A process for some hundred seeds: starting one takes as long as a few of them.
      let last = min(seed + step * 499, end - 1)
      let beacon = folder.appending(path: "beacon-\(worker)").path
      let process = ChildProcess(
        arguments: ["work", "--from", "\(seed)", "--through", "\(last)", "--step", "\(step)"]
          + ["--steps", "\(options.stepCount)", "--folder", folder.path, "--beacon", beacon]
          + (options.kind.map { ["--only", $0.rawValue] } ?? []) + faultArguments
      )
      let ending = process.run { line in
        guard let report = try? JSONDecoder().decode(Report.self, from: line) else { return }
        seed = report.seed + step
        self.add(report)
      }
      if ending == .exited(0) { continue }
      var violation = Violation(ending == .hung ? .hang : .crash, "\(ending)")
      violation.step = Beacon.schedule(at: beacon)?.operations.count ?? 0
      add(
        Report(seed: seed, violation: violation, schedule: Beacon.schedule(at: beacon))
      )
      seed += step
    }
  }

  private var faultArguments: [String] { options.fault.map { ["--fault", $0.rawValue] } ?? [] }

  private func add(_ report: Report) {
    var report = report
    if options.fault != nil, let schedule = report.schedule, report.violation != nil,
      outcome(of: schedule, withFault: false) != nil
    {
      // It fails as it is: that says nothing of the fault.
      report.violation = nil
    }
    let number = state.withLock { state in
      state.scheduleCount += 1
      guard let violation = report.violation else { return 0 }
      state.violationCount += 1
      state.firstViolation = state.firstViolation ?? "seed \(report.seed): \(violation)"
      state.violations[violation.sort, default: 0] += 1
      return state.violations[violation.sort, default: 0]
    }
    if isTerminal {
      let line = "\r\(scheduleCount) schedules, \(violationCount) violations"
      try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
    }
    guard let violation = report.violation, number <= options.printed else { return }
    guard let schedule = report.schedule else {
      return print("violation: seed \(report.seed): \(violation)")
    }
    let shrunk = schedule.shrunk(limit: 400) { candidate in
      self.outcome(of: candidate)?.sort == violation.sort
    }
    let last = outcome(of: shrunk)
    if let last, last.sort == violation.sort {
      print("violation: seed \(report.seed): \(last)\n\(shrunk.swift.indented)")
    } else {
      // It takes what other seeds left in memory, or luck.
      let alone = last.map { "\($0)" } ?? "agrees with the oracle"
      print("violation: seed \(report.seed): \(violation); alone, it \(alone)")
    }
  }

  /// The outcome of a schedule in a process of its own.
  func outcome(of schedule: Schedule, withFault: Bool = true) -> Violation? {
    let name = "candidate-\(UInt64.random(in: 0 ... .max)).json"
    let file = folder.appending(path: name)
    defer { try? FileManager.default.removeItem(at: file) }
    guard let data = try? JSONEncoder().encode(schedule), (try? data.write(to: file)) != nil else {
      return nil
    }
    let process = ChildProcess(
      arguments: ["replay", file.path, "--folder", folder.path, "--name", name]
        + (withFault ? faultArguments : [])
    )
    var violation: Violation?
    let ending = process.run { line in
      violation = (try? JSONDecoder().decode(Report.self, from: line))?.violation
    }
    if ending == .exited(0) { return violation }
    return Violation(ending == .hung ? .hang : .crash, "\(ending)")
  }
}

extension String {
  var indented: String {
    split(separator: "\n", omittingEmptySubsequences: false).map { "    \($0)" }
      .joined(separator: "\n")
  }
}

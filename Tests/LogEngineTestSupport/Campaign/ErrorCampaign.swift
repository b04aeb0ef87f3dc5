import LogEngine

/// Lets calls fail, once and for ever, and goes on with the store that comes out of it.
package enum ErrorCampaign {
  package static func run(seed: UInt64, stepCount: Int = 40, faultCount: Int = 16) -> CampaignResult
  {
    run(Workload(seed: seed, stepCount: stepCount), faultCount: faultCount)
  }

  package static func run(_ workload: Workload, faultCount: Int = 16) -> CampaignResult {
    let seed = workload.seed
    var result = CampaignResult()
    var random = SeededGenerator(seed: seed).forked(3)
    guard let calls = countCalls(workload, &result) else { return result }
    for _ in 0..<faultCount {
      guard let (operation, count) = calls.randomElement(using: &random) else { break }
      let fault = Fault(
        operation,
        number: Int.random(in: 1...count, using: &random),
        random.oneIn(2) ? .once : .forEver,
        .error(5)
      )
      var trial = FaultTrial(workload, fault)
      trial.run()
      result.states.formUnion(trial.states)
      result.violations += trial.violations
    }
    return result
  }

  /// How often a workload makes each kind of call when nothing goes wrong.
  private static func countCalls(
    _ workload: Workload,
    _ result: inout CampaignResult
  ) -> [(FileOperation, Int)]? {
    let fileSystem = SimulatedFileSystem(seed: workload.seed)
    var run = WorkloadRun(workload, on: fileSystem, ledger: Ledger())
    do {
      for step in workload.steps.indices { try run.perform(step) }
    } catch {
      result.violations.append(
        Violation(area: .errors, seed: workload.seed, place: "without a fault", problem: "\(error)")
      )
      return nil
    }
    return FileOperation.all.compactMap { operation in
      let count = fileSystem.callCount(of: operation)
      return count > 0 ? (operation, count) : nil
    }
  }
}

extension FileOperation {
  static let all: [FileOperation] = [
    .open, .read, .write, .synchronize, .size, .allocate, .truncate, .map, .rename, .link, .unlink,
    .list, .makeDirectory, .synchronizeDirectory, .lock,
  ]

  /// Whether a store whose calls of this kind fail can still be read.
  var leavesReadsAlone: Bool {
    switch self {
    case .open, .read, .size, .map, .list: false
    default: true
    }
  }
}

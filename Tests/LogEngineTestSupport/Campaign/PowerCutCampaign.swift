import LogEngine

/// Cuts the power before every call a workload makes.
package enum PowerCutCampaign {
  package static func run(seed: UInt64, stepCount: Int = 60, lies: Lies = []) -> CampaignResult {
    run(Workload(seed: seed, stepCount: stepCount), lies: lies)
  }

  package static func run(
    _ workload: Workload,
    lies: Lies = [],
    limits: CrashStateLimits = CrashStateLimits(),
    oneMomentIn stride: Int = 1
  ) -> CampaignResult {
    let seed = workload.seed
    let ledger = Ledger()
    var faults = FaultPlan()
    faults.lies = lies
    faults.hasShortWrites = seed % 4 == 3
    let fileSystem = SimulatedFileSystem(seed: seed, faults: faults, ledger: ledger)
    var run = WorkloadRun(workload, on: fileSystem, ledger: ledger)
    var result = CampaignResult()
    do {
      for step in workload.steps.indices { try run.perform(step) }
      try run.close()
    } catch {
      result.violations.append(
        Violation(area: .powercut, seed: seed, place: "without a crash", problem: "\(error)")
      )
    }
    ledger.record(
      .init(number: fileSystem.callCount + 1, operation: .open, path: "-"),
      fileSystem.disk
    )

    var check = CrashCheck(
      area: .powercut,
      seed: seed,
      states: ledger.model.states,
      options: workload.options
    )
    // Which of the moments are looked at differs from seed to seed.
    for (index, moment) in ledger.moments.enumerated()
    where index % stride == Int(seed % UInt64(stride)) {
      check.check(moment, limits: limits, depth: 2)
      check.checkProcessEnd(moment)
      if check.violations.count >= CampaignResult.violationLimit { break }
    }
    result.states = check.openedStates
    result.violations += check.violations
    return result
  }
}

/// What a seed brought to light.
package struct CampaignResult: Sendable {
  /// The states of the disk a store was opened on, by hash.
  package var states: Set<UInt64> = []
  package var violations: [Violation] = []

  /// A seed is given up after so many: they mostly have one cause.
  package static let violationLimit = 20

  mutating func report(_ area: Area, _ seed: UInt64, _ place: String, _ error: any Error) {
    let problem = (error as? Mismatch)?.description ?? "\(error)"
    violations.append(Violation(area: area, seed: seed, place: place, problem: problem))
  }
}

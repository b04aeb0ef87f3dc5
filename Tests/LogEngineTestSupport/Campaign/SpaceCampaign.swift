import LogEngine

/// Fills the device and empties it again.
package enum SpaceCampaign {
  package static func run(seed: UInt64, stepCount: Int = 60) -> CampaignResult {
    run(Workload(seed: seed, stepCount: stepCount))
  }

  package static func run(_ workload: Workload) -> CampaignResult {
    let seed = workload.seed
    let ledger = Ledger()
    let fileSystem = SimulatedFileSystem(seed: seed)
    var run = WorkloadRun(workload, on: fileSystem, ledger: ledger)
    var result = CampaignResult()
    var random = SeededGenerator(seed: seed).forked(4)
    for step in workload.steps.indices {
      do {
        if random.oneIn(3) { fileSystem.fill() }
        try run.perform(step)
      } catch StorageError.noSpace {
        fileSystem.setFaults(FaultPlan())
        // Refused, so nothing of it may be seen: not in the store, and not after a power cut.
        ledger.update { $0.retract() }
        check(run, fileSystem, step, &result)
      } catch {
        result.report(.space, seed, "step \(step)", error)
        return result
      }
      fileSystem.setFaults(FaultPlan())
    }
    return result
  }

  private static func check(
    _ run: WorkloadRun,
    _ fileSystem: SimulatedFileSystem,
    _ step: Int,
    _ result: inout CampaignResult
  ) {
    let model = run.ledger.model
    do {
      try run.store?.check(
        against: model.states,
        allowed: model.acknowledged...model.acknowledged
      )
    } catch {
      result.report(.space, run.workload.seed, "step \(step), read while the device is full", error)
    }
    var check = CrashCheck(
      area: .space,
      seed: run.workload.seed,
      states: model.states,
      options: run.workload.options
    )
    let moment = Ledger.Moment(
      call: .init(number: fileSystem.callCount + 1, operation: .allocate, path: "-"),
      step: step,
      disk: fileSystem.disk,
      promise: model.promise
    )
    check.check(moment, limits: CrashStateLimits(), depth: 1)
    result.states.formUnion(check.openedStates)
    result.violations += check.violations
  }
}

extension SimulatedFileSystem {
  /// From now on there is no room for anything.
  fileprivate func fill() {
    setFaults(FaultPlan([Fault(.allocate, number: 1, .forEver, .noSpace)]))
  }
}

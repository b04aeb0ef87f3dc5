import LogEngine

/// A workload that meets one fault: what the store still shows, what a power cut leaves of it, and
/// whether it can be opened and used again once the fault is gone.
struct FaultTrial {
  private let workload: Workload
  private let fault: Fault
  private let ledger = Ledger()
  private let fileSystem: SimulatedFileSystem
  private var workloadRun: WorkloadRun
  private(set) var states: Set<UInt64> = []
  private(set) var violations: [Violation] = []

  init(_ workload: Workload, _ fault: Fault) {
    self.workload = workload
    self.fault = fault
    fileSystem = SimulatedFileSystem(
      seed: workload.seed,
      faults: FaultPlan([fault]),
      ledger: ledger
    )
    workloadRun = WorkloadRun(workload, on: fileSystem, ledger: ledger)
  }

  mutating func run() {
    var step = 0
    while step < workload.steps.count {
      do {
        try workloadRun.perform(step)
      } catch let error as StorageError {
        check(error, at: step)
        if !canGoOn(at: step, after: error) {
          step = reopen(at: step)
          break
        }
      } catch {
        return report("step \(step)", error)
      }
      step += 1
    }
    finish(from: step + 1)
  }

  /// Checks a store whose step has failed.
  private mutating func check(_ error: StorageError, at step: Int) {
    if !error.isConsequence(of: fault) {
      report("step \(step)", Mismatch("a failing \(fault.operation) was reported as \(error)"))
    }
    checkReads(at: step)
    checkPowerCut(at: step)
  }

  /// Whether the store takes commits after a step that failed: then that step's commit, if it was to
  /// make one, must have left nothing behind.
  private mutating func canGoOn(at step: Int, after failure: StorageError) -> Bool {
    guard workloadRun.store != nil, !ledger.model.newest.tables.isEmpty else { return false }
    let failed = ledger.model.issued > ledger.model.acknowledged ? ledger.model.newest : nil
    ledger.update { $0.retract() }
    do {
      try workloadRun.change(catalogue: [.addTable(name: "after step \(step)")])
      return true
    } catch is StorageError {
      // Poisoned: what became of the commit that failed is known to nobody. If the step's failure
      // left the log as it was, as that of a checkpoint or of a new segment does, it is this commit.
      guard case .poisoned = failure else { return false }
      ledger.update { model in
        model.retract()
        if let failed { model.issue(failed) }
      }
    } catch {
      report("step \(step), went on after the fault", error)
    }
    return false
  }

  /// Opens the store anew.
  ///
  /// - Returns: The last step that was tried.
  private mutating func reopen(at step: Int) -> Int {
    workloadRun.abandon()
    reopenUnderFault(at: step)
    workloadRun.abandon()
    fileSystem.setFaults(FaultPlan())
    do {
      try workloadRun.begin()
    } catch {
      report("step \(step), opened again without the fault", error)
      return workload.steps.count
    }
    return step
  }

  /// What was not acknowledged must not show, and what was must.
  private mutating func checkReads(at step: Int) {
    guard fault.operation.leavesReadsAlone, let store = workloadRun.store else { return }
    let model = ledger.model
    do {
      try store.check(against: model.states, allowed: model.acknowledged...model.acknowledged)
    } catch {
      report("step \(step), read after the fault", error)
    }
  }

  private mutating func checkPowerCut(at step: Int) {
    let model = ledger.model
    let moment = Ledger.Moment(
      call: .init(number: fileSystem.callCount + 1, operation: .open, path: "-"),
      step: step,
      disk: fileSystem.disk,
      promise: model.promise
    )
    check([moment], model.states, limits: CrashStateLimits(), note: "after the fault")
  }

  /// A store may refuse to open while its calls fail, but not in any other way than by an error.
  private mutating func reopenUnderFault(at step: Int) {
    let model = ledger.model
    do {
      let store = try TestedStore(opening: WorkloadRun.path, on: fileSystem, workload.options)
      try store.check(against: model.states, allowed: model.promise.afterProcessEnd)
    } catch is StorageError {
      return
    } catch {
      report("step \(step), opened again under the fault", error)
    }
  }

  /// Does the rest of the workload without faults, and crashes it once more at each call.
  private mutating func finish(from first: Int) {
    let momentCount = ledger.moments.count
    for step in workload.steps.indices.dropFirst(first) {
      do {
        try workloadRun.perform(step)
      } catch {
        return report("step \(step), after the fault was gone", error)
      }
    }
    check(
      Array(ledger.moments.dropFirst(momentCount)),
      ledger.model.states,
      limits: .few,
      note: "later on"
    )
  }

  private mutating func check(
    _ moments: [Ledger.Moment],
    _ states: [StoreContent],
    limits: CrashStateLimits,
    note: String
  ) {
    var check = CrashCheck(
      area: .errors,
      seed: workload.seed,
      states: states,
      options: workload.options
    )
    for moment in moments where check.violations.count < CampaignResult.violationLimit {
      check.check(moment, limits: limits, depth: 1)
    }
    self.states.formUnion(check.openedStates)
    for violation in check.violations { report("\(note), \(violation.place)", violation.problem) }
  }

  private mutating func report(_ place: String, _ error: any Error) {
    report(place, (error as? Mismatch)?.description ?? "\(error)")
  }

  private mutating func report(_ place: String, _ problem: String) {
    let fault = "\(fault.operation) \(fault.number) fails \(fault.duration)"
    violations.append(
      Violation(area: .errors, seed: workload.seed, place: "\(fault), \(place)", problem: problem)
    )
  }
}

extension StorageError {
  /// Whether a fault explains the error: the call it names, or a refusal because of an earlier one.
  fileprivate func isConsequence(of fault: Fault) -> Bool {
    switch self {
    case .inputOutput(_, let operation, _): operation == fault.operation
    case .poisoned(_, let cause): cause.isConsequence(of: fault)
    default: false
    }
  }
}

package import LogEngine

/// Stores photos in side files, and cuts the power before every call or lets calls fail.
package enum BlobCampaign {
  /// Runs one seed: half of them with a fault.
  package static func run(seed: UInt64) -> CampaignResult {
    seed % 2 == 0 ? runFault(seed: seed) : runPowerCut(seed: seed)
  }

  /// Cuts the power before every call; `plant` puts a fault between the store and the disk, to see that it
  /// is found.
  package static func runPowerCut(
    seed: UInt64,
    stepCount: Int = 24,
    _ upkeep: PhotoRun.Upkeep = .none,
    plant: (any FileSystem) -> any FileSystem = { $0 }
  ) -> CampaignResult {
    let ledger = PhotoLedger()
    let fileSystem = SimulatedFileSystem(seed: seed, observer: { ledger.record($0, $1) })
    var run = PhotoRun(seed: seed, on: plant(fileSystem), ledger, upkeep)
    var result = CampaignResult()
    do {
      for step in 0..<stepCount { try run.perform(step) }
      try run.checkViews()
      try run.close()
    } catch {
      result.report(seed, "without a crash", error)
    }
    ledger.record(
      .init(number: fileSystem.callCount + 1, operation: .open, path: "-"),
      fileSystem.disk
    )
    var check = PhotoCrashCheck(seed: seed, states: ledger.states, options: run.options)
    for moment in ledger.moments where check.violations.count < CampaignResult.violationLimit {
      check.check(moment, limits: .several, depth: 1)
    }
    result.states = check.openedStates
    result.violations += check.violations
    return result
  }

  /// Lets calls of one kind fail, once or for ever, and goes on.
  package static func runFault(
    seed: UInt64,
    stepCount: Int = 40,
    _ upkeep: PhotoRun.Upkeep = .none
  ) -> CampaignResult {
    var random = SeededGenerator(seed: seed).forked(12)
    let operations: [FileOperation] = [
      .open, .write, .write, .synchronize, .synchronize, .rename, .unlink, .unlink, .allocate,
      .makeDirectory, .synchronizeDirectory, .synchronizeDirectory,
    ]
    let fault = Fault(
      operations.randomElement(using: &random) ?? .write,
      number: Int.random(in: 1...(upkeep == .none ? 60 : 200), using: &random),
      random.oneIn(3) ? .forEver : .once,
      random.oneIn(3) ? .noSpace : .error(5)
    )
    var result = CampaignResult()
    let ledger = PhotoLedger()
    let fileSystem = SimulatedFileSystem(seed: seed, faults: FaultPlan([fault]))
    var run = PhotoRun(seed: seed, on: fileSystem, ledger, upkeep)
    for step in 0..<stepCount {
      do {
        try run.perform(step)
      } catch is StorageError {
        do {
          try recover(&run, fileSystem)
        } catch {
          result.report(seed, "\(fault), step \(step)", error)
          return result
        }
      } catch {
        result.report(seed, "\(fault), step \(step)", error)
        return result
      }
    }
    do {
      fileSystem.setFaults(FaultPlan())
      try run.checkViews()
      run.abandon()
      try run.open()
      run.store?.settle()
      try run.close()
      try run.open()
      run.store?.settle()
      try run.checkFiles()
    } catch {
      result.report(seed, "\(fault), at the end", error)
    }
    result.states.insert(fileSystem.disk.hash)
    return result
  }

  /// After a step that failed nothing of it may show; then the fault goes, and all must be well.
  private static func recover(
    _ run: inout PhotoRun,
    _ fileSystem: SimulatedFileSystem
  ) throws {
    let ledger = run.ledger
    fileSystem.setFaults(FaultPlan())
    if let store = run.store {
      try store.check(ledger.states[ledger.acknowledged])
      try run.checkViews()
      let failed = ledger.promise.issued > ledger.acknowledged ? ledger.newest : nil
      ledger.retract()
      do {
        let row = PhotoRow(title: "after the fault", photo: Photo(seed: 5, byteCount: 300))
        try run.commit([.insert(store.newKey(), row)])
        return
      } catch is StorageError {
        // Poisoned: what became of the commit that failed is known to nobody.
        ledger.retract()
        if let failed { ledger.issue(failed) }
      }
    }
    run.abandon()
    try run.open()
    run.store?.settle()
    try run.checkFiles()
  }
}

extension PhotoRun {
  /// There must be a file for each photo, and no other.
  func checkFiles() throws {
    guard let store else { return }
    let usage = try store.engine.blobUsage()
    let expected = ledger.newest.external(above: store.threshold)
    guard usage.fileCount == expected.count, usage.byteCount == expected.byteCount else {
      throw Mismatch("there are \(usage), expected \(expected)")
    }
  }
}

extension CampaignResult {
  fileprivate mutating func report(_ seed: UInt64, _ place: String, _ error: any Error) {
    let problem = (error as? Mismatch)?.description ?? "\(error)"
    violations.append(Violation(area: .blobs, seed: seed, place: place, problem: problem))
  }
}

import LogEngineTestSupport
import Testing

@Suite struct `A store whose writes come up short` {
  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func `holds the same as any other`(seed: UInt64) throws {
    var faults = FaultPlan()
    faults.hasShortWrites = true
    let fileSystem = SimulatedFileSystem(seed: seed, faults: faults)
    let workload = Workload(seed: seed, stepCount: 40)
    var run = WorkloadRun(workload, on: fileSystem, ledger: Ledger())
    // Each step that opens the store checks all of it.
    for step in workload.steps.indices { try run.perform(step) }
    try run.close()
    try run.begin()
  }
}

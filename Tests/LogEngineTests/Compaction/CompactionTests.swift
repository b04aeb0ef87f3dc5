import LogEngineTestSupport
import RowFormat
import Testing

@testable import LogEngine
@testable import LogFormat
@testable import LogTools

@Suite struct `Compaction` {
  /// The same script with and without compactions leaves the same rows, whatever the knobs.
  @Test(arguments: Thoroughness.seeds(12))
  func `changes nothing that can be read`(seed: UInt64) throws {
    let ledger = Ledger()
    let fileSystem = SimulatedFileSystem(seed: seed)
    let workload = Workload.compacting(seed: seed, stepCount: 80)
    var run = WorkloadRun(workload, on: fileSystem, ledger: ledger)
    for step in workload.steps.indices {
      try run.perform(step)
      let newest = ledger.model.issued
      _ = try run.store?.check(against: ledger.model.states, allowed: newest...newest)
      let report = try #require(try run.store?.engine.verify())
      let damage = report.problems.filter { $0.severity == .damage }
      #expect(damage == [], "step \(step): \(workload.steps[step])")
    }
    try run.close()
  }

  /// A slice of what `Tools/crashtest --only compaction` does at length.
  @Test(arguments: Thoroughness.seeds(9))
  func `that is harmed loses nothing and brings nothing back`(seed: UInt64) {
    #expect(CompactionCampaign.run(seed: seed, stepCount: 16).violations == [])
  }
}

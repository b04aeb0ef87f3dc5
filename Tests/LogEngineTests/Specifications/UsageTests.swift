import Locking
import LogEngineTestSupport
import Synchronization
import Testing

@testable import LogEngine
@testable import LogFormat

@Suite struct `The usage of the segments` {
  @Test(arguments: 1...30 as ClosedRange<UInt64>)
  func `is counted alike by who commits and who reads the log`(seed: UInt64) throws {
    let workload = Workload(seed: seed, stepCount: 40)
    let fileSystem = SimulatedFileSystem(seed: seed)
    var run = WorkloadRun(workload, on: fileSystem, ledger: Ledger())
    for step in workload.steps.indices { try run.perform(step) }
    try run.store?.synchronize()
    let counted = try #require(run.store).usages
    #expect(!counted.entries.isEmpty)
    #expect(counted.entries.allSatisfy { $0.usage.deadByteCount >= 0 })
    run.abandon()
    try run.begin()
    #expect(try #require(run.store).usages == counted)
  }

  @Test func `lets go of a table that is removed`() throws {
    let store = try SmallStore()
    try store.insert([(1, "a"), (2, "b")])
    let engine = try #require(store.engine)
    #expect(engine.state.log.tail.withLock { $0.usages.liveByteCount(of: 1) } > 0)
    try engine.apply([.removeTable(1)])
    #expect(engine.state.log.tail.withLock { $0.usages.liveByteCount(of: 1) } == 0)
  }
}

extension TestedStore {
  var usages: SegmentUsages { engine.state.log.tail.withLock { $0.usages } }
}

extension SegmentUsages {
  func liveByteCount(of table: UInt16) -> Int {
    entries.reduce(0) { $1.table == table ? $0 + $1.usage.liveByteCount : $0 }
  }
}

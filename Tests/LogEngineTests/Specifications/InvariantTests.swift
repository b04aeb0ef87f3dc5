import LogEngineTestSupport
import Synchronization
import Testing

@testable import LogEngine
@testable import LogFormat

@Suite struct `The invariants of an open store` {
  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `hold after each step of a random script`(seed: UInt64) throws {
    let workload = Workload(seed: seed, stepCount: 40)
    var run = WorkloadRun(workload, on: SimulatedFileSystem(seed: seed), ledger: Ledger())
    for step in workload.steps.indices {
      try run.perform(step)
      let violations = try run.store?.engine.invariantViolations()
      #expect(violations ?? [] == [], "seed \(seed), step \(step)")
    }
  }

  @Test func `tell of a publication that was never ended`() throws {
    let store = try SmallStore()
    let engine = try #require(store.engine)
    #expect(try engine.invariantViolations() == [])
    engine.state.visibility.publication.add(1, ordering: .relaxed)
    #expect(try engine.invariantViolations().map { $0.hasSuffix("was never ended") } == [true])
    // Closing the store waits for the end.
    engine.state.visibility.publication.add(1, ordering: .relaxed)
    #expect(try engine.invariantViolations() == [])
  }

  @Test func `tell of a row count that is not the number of rows`() throws {
    let store = try SmallStore()
    try store.insert([(1, "a"), (2, "b")])
    let engine = try #require(store.engine)
    engine.state.tables[1]?.liveRowCount.add(1, ordering: .relaxed)
    #expect(
      try engine.invariantViolations() == ["table 1 has 2 rows, and is said to have 3"]
    )
  }

  @Test func `tell of what is pinned and folded all the same`() throws {
    let store = try SmallStore()
    try store.insert([(1, "a")])
    let engine = try #require(store.engine)
    let view = engine.makeReadView()
    try store.insert([(2, "b")])
    let newest = engine.state.visibility.visible.load(ordering: .relaxed)
    engine.state.visibility.lowWaterMark.store(newest, ordering: .relaxed)
    #expect(try engine.invariantViolations().count == 1)
    withExtendedLifetime(view) {}
  }
}

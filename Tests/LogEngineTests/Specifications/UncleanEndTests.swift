import LogEngineTestSupport
import RowFormat
import Testing

@testable import LogEngine
@testable import LogFormat

@Suite struct `A store that was closed, and then ended without a word` {
  /// Its log ends in a close mark all the same, since nothing was committed: only the manifest knows.
  @Test func `was not closed`() throws {
    let store = try SimulatedStore()
    for _ in 0..<12 { try store.insert(60) }
    try store.engine.close()
    let second = try SimulatedStore(on: store.disk)
    #expect(second.engine.recovery.wasClosedCleanly)
    // Packs what lies behind, and leaves the segment that is written as it is.
    let outcome = try second.engine.compact(keeping: HistoryRetention(byteCount: 16 << 10))
    #expect(outcome.report != nil)
    let third = try SimulatedStore(on: second.disk)
    #expect(!third.engine.recovery.wasClosedCleanly)
    #expect(try third.rows() == store.rows())
  }
}

import LogEngineTestSupport
import RowFormat
import Testing

@testable import LogEngine
@testable import LogFormat

@Suite struct `A compaction on a nearly full device` {
  /// A store most of whose rows were replaced, on a device with as much left as a few segments take.
  private func makeStore(free: Int) throws -> SimulatedStore {
    let store = try SimulatedStore()
    var random = SeededGenerator(seed: 5)
    // Such that the texts do not compress.
    func text(using random: inout SeededGenerator) -> String {
      String((0..<10).map { _ in String(random.next(), radix: 36) }.joined().prefix(80))
    }
    for _ in 0..<10 { try store.insert(40) }
    for _ in 0..<60 {
      for key in 1...400 as ClosedRange<UInt64> where Int.random(in: 0..<8, using: &random) == 0 {
        try store.replace(key, text: text(using: &random))
      }
    }
    store.leave(free)
    return store
  }

  @Test(arguments: [12 << 10, 20 << 10, 40 << 10])
  func `frees what it has packed, and goes on with that`(free: Int) throws {
    let store = try makeStore(free: free)
    let before = store.disk.byteCount
    let rows = try store.rows()
    #expect(before > 300_000)
    let report = try #require(try store.engine.compact().report)
    #expect(report.segmentCount >= 10)
    #expect(store.disk.byteCount < before / 3)
    #expect(try store.rows() == rows)
    #expect(try SimulatedStore(on: store.disk).rows() == rows)
  }

  @Test func `says what it packed before there was no room for more`() throws {
    let store = try makeStore(free: 40 << 10)
    let before = store.segments.count
    let rows = try store.rows()
    let outcome = try store.engine.compact { _ in
      if store.segments.count < before { store.leave(0) }
      return .proceed
    }
    let report = try #require(outcome.report)
    #expect(0..<before ~= report.segmentCount)
    #expect(store.segments.count < before)
    #expect(try store.rows() == rows)
    #expect(try SimulatedStore(on: store.disk).rows() == rows)
  }

  /// The file of the next segment is then as small as can be.
  @Test func `leaves the segment that is written if all else is packed`() throws {
    let store = try SimulatedStore(segment: 128 << 10)
    for _ in 0..<10 { try store.insert(40) }
    for key in 1...400 as ClosedRange<UInt64> where key % 100 != 0 { try store.delete(key) }
    let rows = try store.rows()
    store.leave(24 << 10)
    #expect(try store.engine.compact().report != nil)
    #expect(store.disk.byteCount < 48 << 10)
    #expect(try store.rows() == rows)
    try store.insert(1)
    #expect(try SimulatedStore(on: store.disk).rows() == store.rows())
  }

  @Test func `leaves the store as it is if there is no room for a single file`() throws {
    let store = try makeStore(free: 0)
    let rows = try store.rows()
    let segments = store.segments
    #expect(throws: StorageError.self) { try store.engine.compact() }
    #expect(store.segments == segments)
    #expect(try store.rows() == rows)
    #expect(try SimulatedStore(on: store.disk).rows() == rows)
    store.fileSystem.setFaults(FaultPlan())
    #expect(try store.engine.compact().report != nil)
    #expect(try store.rows() == rows)
  }
}

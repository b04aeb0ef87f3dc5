import Harness
import Synchronization
import Testing

@Suite struct `Work beside what is measured` {
  @Test func `is done once before anything is measured, and counted from then on`() throws {
    let counter = Counter()
    let repetition = Repetition { { counter.count.add(1, ordering: .relaxed) } }
    #expect(counter.count.load(ordering: .relaxed) >= 1)
    let repeated = try repetition.stop()
    #expect(repeated == counter.count.load(ordering: .relaxed) - 1)
  }

  @Test func `reports what ended it`() {
    let repetition = Repetition { { throw Ended() } }
    #expect(throws: Ended.self) { try repetition.stop() }
  }

  private struct Ended: Error {}

  private final class Counter: Sendable {
    let count = Atomic<Int>(0)
  }
}

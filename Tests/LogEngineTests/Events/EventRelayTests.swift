import Synchronization
import Testing

@testable import LogEngine
@testable import LogFormat

@Suite struct `Events are handed over` {
  /// An event that bears a number.
  private func event(_ number: Int) -> EngineEvent { .noSpace(path: "", needed: number) }

  private func number(_ event: EngineEvent) -> Int {
    if case .noSpace(_, let number) = event { number } else { -1 }
  }

  @Test func `while no lock of the engine is held`() throws {
    // The handler asks the store for its statistics, which takes most of the locks there are.
    let box = Mutex<StorageEngine?>(nil)
    let commits = Mutex<[UInt64]>([])
    let recorder = EventRecorder { _ in
      guard let engine = box.withLock({ $0 }) else { return }
      commits.withLock { $0.append(engine.statistics().lastCommit.rawValue) }
    }
    let store = try MemoryStore(recorder: recorder) { $0.compaction = .automatic }
    box.withLock { $0 = store.engine }
    for _ in 0..<100 {
      try store.work(3, textLength: 1000)
      for _ in 0..<4 { store.engine.performBackgroundWork() }
    }
    try store.engine.compact()
    try store.engine.checkpoint()
    try store.engine.close()
    box.withLock { $0 = nil }
    #expect(commits.withLock { $0.count } > 10)
  }

  @Test func `one at a time, and those of a thread in its order`() async {
    let threads = 4
    let each = 2000
    let isInside = Atomic<Bool>(false)
    let seen = Mutex<[Int]>([])
    let overlaps = Atomic<Int>(0)
    let relay = EventRelay { event in
      if isInside.exchange(true, ordering: .sequentiallyConsistent) {
        overlaps.add(1, ordering: .relaxed)
      }
      seen.withLock { $0.append(self.number(event)) }
      isInside.store(false, ordering: .sequentiallyConsistent)
    }
    await withTaskGroup(of: Void.self) { group in
      for thread in 0..<threads {
        group.addTask {
          for index in 0..<each {
            relay.report(self.event(thread * each + index))
            relay.deliver()
          }
        }
      }
    }
    relay.deliver()
    let numbers = seen.withLock { $0 }
    #expect(overlaps.load(ordering: .relaxed) == 0)
    #expect(numbers.count == threads * each)
    for thread in 0..<threads {
      let own = numbers.filter { $0 / each == thread }
      #expect(own == own.sorted())
    }
  }

  @Test func `also those that the handler causes`() {
    let relayBox = Mutex<EventRelay?>(nil)
    let seen = Mutex<[Int]>([])
    let relay = EventRelay { event in
      let number = self.number(event)
      seen.withLock { $0.append(number) }
      guard number < 3, let relay = relayBox.withLock({ $0 }) else { return }
      relay.report(self.event(number + 1))
      relay.deliver()
    }
    relayBox.withLock { $0 = relay }
    relay.report(event(1))
    relay.deliver()
    relayBox.withLock { $0 = nil }
    #expect(seen.withLock { $0 } == [1, 2, 3])
  }

  @Test func `of a lack of space after a minute again, or when the clock jumped back`() {
    let recorder = EventRecorder()
    let relay = EventRelay(recorder.handler)
    let minute = EventRelay.spaceInterval
    let error = StorageError.noSpace(path: "log", needed: 7)
    for (now, told) in [(0, 1), (1, 1), (minute - 1, 1), (minute, 2), (minute + 1, 2), (5, 3)] {
      relay.reportLackOfSpace(error, now)
      relay.deliver()
      #expect(recorder.lacksOfSpace == told, "at \(now)")
    }
    relay.reportLackOfSpace(.readOnly(path: "log"), 10 * minute)
    relay.deliver()
    #expect(recorder.lacksOfSpace == 3)
  }

  @Test func `of damage at so many places, and no more`() {
    let recorder = EventRecorder()
    let relay = EventRelay(recorder.handler)
    for place in 0..<(2 * EventRelay.damageLimit) {
      relay.reportDamage(.missingFile(path: "\(place)"))
    }
    relay.deliver()
    #expect(recorder.damage.count == EventRelay.damageLimit)
  }
}

import Foundation
import Locking
import Testing

@Suite struct `A lock` {
  private static let low = LockRank(1, "low")
  private static let high = LockRank(2, "high")

  @Test(arguments: [1, 2, 8])
  func `lets one thread at a time use its value`(threadCount: Int) {
    let counter = Counter()
    DispatchQueue.concurrentPerform(iterations: threadCount) { _ in
      for _ in 0..<10_000 { counter.value.withLock { $0 += 1 } }
    }
    #expect(counter.value.withLock { $0 } == threadCount * 10_000)
  }

  @Test func `is free again after its body throws`() {
    let lock = Lock(0, Self.low)
    struct Failure: Error {}
    #expect(throws: Failure.self) {
      try lock.withLock { value in
        value = 1
        throw Failure()
      }
    }
    #expect(lock.withLock { $0 } == 1)
  }

  @Test func `that is held is not waited for by a thread that only tries`() {
    let counter = Counter()
    let (isHeld, isTried) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    Thread.detachNewThread {
      counter.value.withLock { _ in
        isHeld.signal()
        isTried.wait()
      }
      isHeld.signal()
    }
    isHeld.wait()
    #expect(counter.value.withLockIfAvailable { $0 } == nil)
    isTried.signal()
    isHeld.wait()
    #expect(counter.value.withLockIfAvailable { $0 } == 0)
  }

  @Test func `may be taken under locks of lower ranks`() {
    let low = Lock("a", Self.low)
    let high = Lock("b", Self.high)
    #expect(low.withLock { low in high.withLock { low + $0 } } == "ab")
    #expect(high.withLock { $0 } == "b")
    #expect(low.withLock { $0 } == "a")
  }

  #if DEBUG
  @Test func `taken against the order of the ranks stops the program`() async {
    await #expect(processExitsWith: .failure) {
      let low = Lock("a", LockRank(1, "low"))
      let high = Lock("b", LockRank(2, "high"))
      high.withLock { high in low.withLock { high = $0 } }
    }
    await #expect(processExitsWith: .failure) {
      let one = Lock("a", LockRank(1, "low"))
      let other = Lock("b", LockRank(1, "low"))
      one.withLock { one in other.withLock { one = $0 } }
    }
  }
  #endif

  private final class Counter: Sendable {
    let value = Lock(0, LockRank(1, "counter"))
  }
}

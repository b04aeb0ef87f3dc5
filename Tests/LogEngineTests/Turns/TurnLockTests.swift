import Foundation
import Synchronization
import Testing

@testable import LogEngine
@testable import LogFormat

@Suite struct `The lock of a turn` {
  /// A lock that nobody has any more, as far as those who do not wait know; who waits sleeps on.
  private final class SleepyLock: LockableFile {
    let isFree = Atomic<Bool>(false)
    let isReleased = Atomic<Bool>(false)
    private let alarm = DispatchSemaphore(value: 0)

    func take(_ kind: LockKind, waits: Bool) throws(StorageError) -> Bool {
      if waits { alarm.wait() }
      return waits || isFree.load(ordering: .acquiring)
    }
    func release() { isReleased.store(true, ordering: .releasing) }
    func wake() { alarm.signal() }
  }

  /// A file is locked once, however many of its threads ask.
  @Test func `is not taken while a thread waits for it that nobody waits for`() throws {
    let file = SleepyLock()
    let lock = TurnLock(file)
    #expect(try !lock.take(until: Monitor.now()))
    file.isFree.store(true, ordering: .releasing)
    #expect(try !lock.takeAtOnce())
    file.wake()
    while !file.isReleased.load(ordering: .acquiring) { Thread.yield() }
    while try !lock.takeAtOnce() { Thread.yield() }
  }
}

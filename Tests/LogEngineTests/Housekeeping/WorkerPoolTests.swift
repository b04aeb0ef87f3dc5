import Dispatch
import LogEngineTestSupport
import Synchronization
import Testing

@testable import LogEngine

@Suite struct `A pool of threads` {
  @Test func `runs a worker after each signal, and once more for one that comes while it runs`() {
    let pool = WorkerPool(.usual, threadLimit: 2)
    let (begun, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let worker = Worker(of: pool, delay: { nil }) {
      begun.signal()
      mayEnd.wait()
    }
    worker.signal()
    begun.wait()
    // Two signals while it runs are one more run.
    worker.signal()
    worker.signal()
    mayEnd.signal()
    begun.wait()
    mayEnd.signal()
    worker.stop()
    #expect(begun.wait(timeout: .now()) == .timedOut)
  }

  @Test(arguments: [1, 3])
  func `has no more threads than its limit, however many workers there are`(limit: Int) {
    let pool = WorkerPool(.lowest, threadLimit: limit)
    let tally = Tally()
    let ended = DispatchSemaphore(value: 0)
    let workers = (0..<1000).map { _ in
      Worker(of: pool, delay: { nil }) {
        tally.enter()
        tally.leave()
        ended.signal()
      }
    }
    for worker in workers { worker.signal() }
    for _ in workers { ended.wait() }
    #expect(pool.threadCount <= limit)
    #expect(tally.mostAtOnce <= limit)
    for worker in workers { worker.stop() }
  }

  @Test func `never runs one worker on two threads`() {
    let pool = WorkerPool(.usual, threadLimit: 4)
    let tallies = (0..<4).map { _ in Tally() }
    let ended = DispatchSemaphore(value: 0)
    let workers = tallies.map { tally in
      // Due at once, again and again, and signalled besides.
      Worker(of: pool, delay: { 0 }) {
        tally.enter()
        tally.leave()
        ended.signal()
      }
    }
    for round in 0..<2000 {
      workers[round % workers.count].signal()
      ended.wait()
    }
    for worker in workers { worker.stop() }
    for tally in tallies {
      #expect(tally.mostAtOnce == 1)
      #expect(tally.total > 0)
    }
  }

  @Test func `begins nothing after a worker was stopped, and ends what it does first`() {
    let pool = WorkerPool(.usual, threadLimit: 2)
    let begun = DispatchSemaphore(value: 0)
    for _ in 0..<200 {
      let flags = Flags()
      let worker = Worker(of: pool, delay: { 0 }) { flags.run { begun.signal() } }
      worker.signal()
      begun.wait()
      worker.stop()
      #expect(!flags.isRunning)
      let count = flags.runs
      worker.signal()
      // Another worker takes its turn after it.
      let turn = DispatchSemaphore(value: 0)
      let other = Worker(of: pool, delay: { 0 }) { turn.signal() }
      other.signal()
      turn.wait()
      other.stop()
      #expect(flags.runs == count)
      while begun.wait(timeout: .now()) == .success {}
    }
  }

  @Test func `lets a worker stop itself`() {
    let pool = WorkerPool(.usual, threadLimit: 1)
    let stopped = DispatchSemaphore(value: 0)
    let holder = Holder()
    holder.worker.withLock {
      $0 = Worker(of: pool, delay: { nil }) {
        holder.worker.withLock { $0.take() }?.stop()
        stopped.signal()
      }
      $0?.signal()
    }
    stopped.wait()
    // Its thread serves others.
    let other = Worker(of: pool, delay: { nil }) { stopped.signal() }
    other.signal()
    stopped.wait()
    other.stop()
  }

  @Test func `runs a worker again when its delay is over, without a signal`() {
    let pool = WorkerPool(.usual, threadLimit: 1)
    let ended = DispatchSemaphore(value: 0)
    let worker = Worker(of: pool, delay: { 100 }) { ended.signal() }
    worker.signal()
    for _ in 0..<10 { ended.wait() }
    worker.stop()
  }

  @Test func `takes workers in the order of their times, whatever was taken out before`() {
    let seed: UInt64 = 7
    var random = SeededGenerator(seed: seed)
    let pool = WorkerPool(.usual, threadLimit: 1)
    for count in [0, 1, 2, 3, 10, 100] {
      var timetable = Timetable()
      var deadlines: [ObjectIdentifier: Int] = [:]
      let workers = (0..<count).map { _ in Worker(of: pool, delay: { nil }) {} }
      for worker in workers {
        let deadline = Int.random(in: 0..<50, using: &random)
        timetable.insert(worker, at: deadline)
        deadlines[ObjectIdentifier(worker)] = deadline
      }
      for worker in workers where Bool.random(using: &random) {
        if Bool.random(using: &random) {
          timetable.remove(worker)
          deadlines[ObjectIdentifier(worker)] = nil
        } else {
          let deadline = Int.random(in: 0..<50, using: &random)
          timetable.insert(worker, at: deadline)
          deadlines[ObjectIdentifier(worker)] = deadline
        }
      }
      var taken: [Int] = []
      for now in 0..<50 {
        while let worker = timetable.takeFirst(dueAt: now) {
          let deadline = deadlines.removeValue(forKey: ObjectIdentifier(worker))
          #expect(deadline == now, "seed \(seed), \(count) workers")
          taken.append(now)
        }
      }
      #expect(deadlines.isEmpty && timetable.isEmpty, "seed \(seed), \(count) workers")
      #expect(taken == taken.sorted(), "seed \(seed), \(count) workers")
    }
  }

  @Test func `gives up threads without work, and starts new ones`() {
    let pool = WorkerPool(.usual, threadLimit: 3, patience: 1000)
    let ended = DispatchSemaphore(value: 0)
    let worker = Worker(of: pool, delay: { nil }) { ended.signal() }
    for _ in 0..<3 {
      worker.signal()
      ended.wait()
      while pool.threadCount > 0 {}
    }
    worker.stop()
  }

  @Test func `serves all stores of a process`() throws {
    let stores = try (0..<200).map { _ in
      try MemoryStore {
        $0.background = .ownThread
        $0.durability = .relaxed(interval: .milliseconds(1))
      }
    }
    for store in stores { try store.commit([.insert(1, "one")]) }
    // A thread of the pool synchronizes each.
    for store in stores {
      let state = store.engine.state
      while state.log.durableEnd.load(ordering: .relaxed) == 0 {}
    }
    #expect(WorkerPool.lowest.threadCount <= WorkerPool.lowest.threadLimit)
    #expect(WorkerPool.lowest.threadLimit <= 16)
    for store in stores { try store.engine.close() }
  }
}

/// Counts who is in at once.
private final class Tally: Sendable {
  private let present = Atomic<Int>(0)
  private let count = Atomic<Int>(0)
  private let most = Atomic<Int>(0)

  var total: Int { count.load(ordering: .sequentiallyConsistent) }
  var mostAtOnce: Int { most.load(ordering: .sequentiallyConsistent) }

  func enter() {
    count.add(1, ordering: .relaxed)
    most.max(present.add(1, ordering: .sequentiallyConsistent).newValue, ordering: .relaxed)
  }

  func leave() { present.subtract(1, ordering: .sequentiallyConsistent) }
}

private final class Flags: Sendable {
  private let running = Atomic<Bool>(false)
  private let count = Atomic<Int>(0)

  var isRunning: Bool { running.load(ordering: .sequentiallyConsistent) }
  var runs: Int { count.load(ordering: .sequentiallyConsistent) }

  func run(_ body: () -> Void) {
    running.store(true, ordering: .sequentiallyConsistent)
    body()
    count.add(1, ordering: .sequentiallyConsistent)
    running.store(false, ordering: .sequentiallyConsistent)
  }
}

private final class Holder: Sendable { let worker = Mutex<Worker?>(nil) }

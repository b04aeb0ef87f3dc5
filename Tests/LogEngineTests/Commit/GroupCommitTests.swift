import Foundation
import Locking
import LogEngineTestSupport
import RowFormat
import Synchronization
import Testing

@testable import LogEngine

@Suite struct `Commits of several threads that wait for the disk` {
  /// Commits a row.
  private static func commit(to engine: StorageEngine) throws {
    let layout = RowLayout([.integer])
    var writer = RowWriter()
    writer.begin(layout)
    writer.set(0, integer: 7)
    let range = writer.finish()
    let row = writer.bytes.extracting(range).withUnsafeBytes { Array($0) }
    var batch = engine.makeBatch()
    let key = engine.reserveKeys(1, in: 1).lowerBound
    row.withUnsafeBytes {
      batch.insert(RowReference(table: 1, key: key), layout: LayoutNumber(1), row: $0.bytes)
    }
    _ = try engine.commit(&batch)
  }

  private static func open(
    _ hook: @escaping @Sendable (HookedFileSystem.Call) throws -> Void
  ) throws -> StorageEngine {
    let fileSystem = HookedFileSystem(InMemoryFileSystem(), hook: hook)
    var options = EngineOptions()
    options.background = .caller
    options.reads = .copied
    // A commit that needs a longer file waits for the synchronization that these hooks hold up.
    options.smallestSegmentFile = options.smallestSegment
    let engine = try StorageEngine.open(at: "/store", options: options, fileSystem: fileSystem)
    try engine.apply([
      .addTable(name: "numbers"),
      .addColumn(table: 1, name: "number", type: .integer, isNullable: false),
      .setLayout(table: 1, columns: [1]),
    ])
    return engine
  }

  /// One thread commits without a pause.
  ///
  /// Another one's commit is written by the first one's second synchronization; its third one
  /// waits until the other has noticed.
  @Test(.timeLimit(.minutes(30)))
  func `are told that they are done while another thread goes on`() throws {
    let engineBox = Mutex<StorageEngine?>(nil)
    let isArmed = Atomic<Bool>(false)
    let count = Atomic<Int>(0)
    let (begun, noticed) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let engine = try Self.open { call in
      guard isArmed.load(ordering: .acquiring), call.operation == .synchronize,
        call.path.hasSuffix(".seg")
      else { return }
      switch count.add(1, ordering: .relaxed).newValue {
      case 1:
        begun.signal()
        // Until the other thread's commit has its number, and waits.
        while engineBox.withLock({ $0?.state.log.tail.withLock { $0.sequence } ?? 0 }) < 3 {
          sched_yield()
        }
      case 3: noticed.wait()
      default: break
      }
    }
    engineBox.withLock { $0 = engine }
    isArmed.store(true, ordering: .releasing)
    let ended = DispatchSemaphore(value: 0)
    let failures = Mutex<[any Error]>([])
    Thread.detachNewThread {
      begun.wait()
      do { try Self.commit(to: engine) } catch { failures.withLock { $0.append(error) } }
      noticed.signal()
      ended.signal()
    }
    for _ in 0..<3 { try Self.commit(to: engine) }
    ended.wait()
    #expect(failures.withLock { $0.isEmpty })
    #expect(engine.lastCommit.rawValue == 5)
    engineBox.withLock { $0 = nil }
    try engine.close()
  }

  /// One thread runs a round until all others wait; none of those runs one.
  @Test(.timeLimit(.minutes(30)), arguments: [1, 2, 7])
  func `wake all when a round ends, though none of them has anything left to write`(
    waiterCount: Int
  ) throws {
    let rounds = WriteRounds()
    let (begun, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let ranCount = Atomic<Int>(0)
    Thread.detachNewThread {
      _ = try? rounds.run {
        begun.signal()
        while rounds.waiterCount < waiterCount { sched_yield() }
      }
      ended.signal()
    }
    begun.wait()
    for _ in 0..<waiterCount {
      Thread.detachNewThread {
        if (try? rounds.run {}) == true { ranCount.add(1, ordering: .relaxed) }
        ended.signal()
      }
    }
    for _ in 0...waiterCount { ended.wait() }
    #expect(ranCount.load(ordering: .relaxed) == 0)
    #expect(rounds.waiterCount == 0)
  }

  @Test func `wait for no round that begins when they are done`() throws {
    let rounds = WriteRounds()
    let isRun = try rounds.run {
      // By the thread that runs a round: it would wait for ever.
      let (begun, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      Thread.detachNewThread {
        begun.signal()
        if (try? rounds.run(unless: { true }) {}) == false { ended.signal() }
      }
      begun.wait()
      ended.wait()
    }
    #expect(isRun && rounds.waiterCount == 0)
  }

  /// Each synchronization waits until every thread that goes on has appended a commit, so that two of them write at least one
  /// of each.
  @Test(.timeLimit(.minutes(30)), arguments: [4, 16])
  func `are written by few synchronizations`(threadCount: Int) throws {
    let commitsEach = 50
    let engineBox = Mutex<StorageEngine?>(nil)
    let running = Atomic<Int>(0)
    let count = Atomic<Int>(0)
    let engine = try Self.open { call in
      guard call.operation == .synchronize, call.path.hasSuffix(".seg"),
        running.load(ordering: .acquiring) > 0
      else { return }
      count.add(1, ordering: .relaxed)
      while let (numbered, visible) = engineBox.withLock({ engine in
        engine.map { ($0.state.log.tail.withLock { $0.sequence }, $0.lastCommit.rawValue) }
      }), numbered - visible < UInt64(running.load(ordering: .acquiring)) {
        // The others need the locks that this looks through.
        sched_yield()
      }
    }
    engineBox.withLock { $0 = engine }
    running.store(threadCount, ordering: .releasing)
    let ended = DispatchSemaphore(value: 0)
    for _ in 0..<threadCount {
      Thread.detachNewThread {
        for _ in 0..<commitsEach { try? Self.commit(to: engine) }
        running.subtract(1, ordering: .acquiringAndReleasing)
        ended.signal()
      }
    }
    for _ in 0..<threadCount { ended.wait() }
    #expect(engine.lastCommit.rawValue == 1 + UInt64(threadCount * commitsEach))
    let synchronizationCount = count.load(ordering: .relaxed)
    #expect(synchronizationCount <= 2 * commitsEach + 1, "\(synchronizationCount)")
    engineBox.withLock { $0 = nil }
    try engine.close()
  }
}

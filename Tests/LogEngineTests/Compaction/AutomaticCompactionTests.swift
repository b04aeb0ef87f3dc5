import LogEngineTestSupport
import RowFormat
import Synchronization
import Testing

@testable import LogEngine
@testable import LogFormat
@testable import LogTools

@Suite struct `A store that is compacted in the background` {
  private func makeStore(
    _ configure: @escaping @Sendable (inout EngineOptions) -> Void = { _ in }
  ) throws -> MemoryStore {
    try MemoryStore { options in
      options.compaction = .automatic
      configure(&options)
    }
  }

  private func temporaryFiles(_ store: MemoryStore) throws -> [String] {
    try store.disk.list("\(store.path)/tmp") ?? []
  }

  @Test func `stays small however often its rows are replaced`() throws {
    let store = try makeStore { $0.compactionPolicy.slackByteCount = 64 << 10 }
    let text = String(repeating: "z", count: 200)
    let keys = try store.commit((0..<50).map { .insert($0, text) })
    var largest = 0.0
    for round in 0..<2000 {
      try store.replace(keys[round * 7 % keys.count], Int64(round), text)
      for _ in 0..<3 { store.engine.performBackgroundWork() }
      if round > 200 { largest = max(largest, store.engine.statistics().compaction.pressure) }
    }
    let statistics = store.engine.statistics()
    #expect(statistics.compaction.count > 5)
    #expect(statistics.compaction.failureCount == 0)
    #expect(largest < 2)
    #expect(statistics.segments.count <= 10)
    #expect(try MemoryStore.rows(of: store.engine) == store.rows)
    #expect(try store.engine.verify().isSound)
    store.abandon()
    try store.open()
    #expect(try MemoryStore.rows(of: store.engine) == store.rows)
  }

  @Test func `does nothing that was not asked for otherwise`() throws {
    let store = try makeStore { $0.compaction = .onDemand }
    try store.work(1200, textLength: 300)
    for _ in 0..<20 { store.engine.performBackgroundWork() }
    #expect(store.engine.statistics().compaction.count == 0)
    #expect(store.engine.statistics().compaction.pressure > 1)
  }

  /// Steps until a compaction is under way.
  private func begin(_ store: MemoryStore) throws {
    try store.work(150, textLength: 300)
    for _ in 0..<4 where !store.engine.statistics().compaction.isRunning {
      store.engine.performBackgroundWork()
    }
    #expect(store.engine.statistics().compaction.isRunning)
    #expect(try temporaryFiles(store).contains("pack"))
  }

  @Test func `is closed without waiting for it, and leaves nothing of it`() throws {
    let store = try makeStore()
    try begin(store)
    try store.close()
    #expect(try temporaryFiles(store) == [])
    try store.open()
    #expect(store.engine.recovery.wasClosedCleanly)
    #expect(try MemoryStore.rows(of: store.engine) == store.rows)
    #expect(try store.engine.verify().problems.isEmpty)
  }

  @Test func `is as it was if its process ends`() throws {
    let store = try makeStore()
    try begin(store)
    store.abandon()
    try store.open()
    #expect(try temporaryFiles(store) == [])
    #expect(try MemoryStore.rows(of: store.engine) == store.rows)
    #expect(try store.engine.verify().problems.isEmpty)
  }

  @Test func `gives way to a compaction that somebody asks for`() throws {
    let store = try makeStore()
    try begin(store)
    #expect(try store.engine.compact().report != nil)
    #expect(try temporaryFiles(store) == [])
    #expect(try store.engine.compact() == .nothingToDo)
    #expect(try MemoryStore.rows(of: store.engine) == store.rows)
  }

  @Test func `goes on by itself after somebody asked for one in vain`() throws {
    let store = try makeStore()
    try begin(store)
    #expect(try store.engine.compact { _ in .stop } == .stopped)
    #expect(!store.engine.statistics().compaction.isRunning)
    try store.commit([.insert(1, "more")])
    for _ in 0..<400 { store.engine.performBackgroundWork() }
    #expect(store.engine.statistics().compaction.count > 0)
  }

  /// What a view sees is dead and cannot be left out: to pack it again would gain nothing.
  @Test func `does not pack again and again what a view holds`() throws {
    let store = try makeStore()
    try store.work(60, textLength: 300)
    let expected = store.rows
    var view: ReadView? = store.engine.makeReadView()
    for _ in 0..<250 {
      try store.work(3, textLength: 300)
      for _ in 0..<5 { store.engine.performBackgroundWork() }
    }
    let held = store.engine.statistics().compaction
    #expect(held.count <= 2)
    #expect(held.obstacle == .waitsForView(of: CommitSequence(view?.sequence.rawValue ?? 0)))
    if let view { #expect(try MemoryStore.rows(of: view) == expected) }
    view = nil
    try store.work(3, textLength: 300)
    for _ in 0..<200 { store.engine.performBackgroundWork() }
    #expect(store.engine.statistics().compaction.count > held.count)
    #expect(try MemoryStore.rows(of: store.engine) == store.rows)
  }

  /// Each takes a part of the live rows, and a view holds none of what it has not been asked for yet.
  @Test func `packs all that a view allows, a part at a time`() throws {
    let isAutomatic = Atomic(false)
    let store = try MemoryStore {
      $0.compaction = isAutomatic.load(ordering: .relaxed) ? .automatic : .onDemand
      $0.compactionPolicy.packByteCounts = 1024...1 << 20
    }
    let text = String(repeating: "x", count: 300)
    for number in 0..<200 {
      try store.commit((0..<10).map { .insert(Int64(number * 10 + $0), text) })
      store.engine.performBackgroundWork()
    }
    try store.close()
    isAutomatic.store(true, ordering: .relaxed)
    try store.open()
    let packable = store.engine.statistics().segments.count - 1
    #expect(packable > 10)
    let seen = store.rows
    let view = store.engine.makeReadView()
    // Without commits a store counts as idle, and all is taken at once.
    for number in 0..<2000 {
      try store.commit([.insert(Int64(number), "more")])
      store.engine.performBackgroundWork()
    }
    #expect(store.engine.statistics().compaction.count > 2)
    #expect(store.engine.statistics().segments.count < packable)
    #expect(try MemoryStore.rows(of: view) == seen)
    #expect(try MemoryStore.rows(of: store.engine) == store.rows)
  }

  @Test func `keeps the history it is told to, and no more`() throws {
    let store = try makeStore { $0.history = HistoryRetention(byteCount: 100 << 10) }
    for _ in 0..<80 {
      try store.work(10, textLength: 300)
      for _ in 0..<10 { store.engine.performBackgroundWork() }
    }
    let statistics = store.engine.statistics()
    #expect(statistics.compaction.count > 0)
    let kept = statistics.segments.filter(\.isHistory)
    #expect((2...7).contains(kept.count))
    #expect(kept.reduce(0) { $0 + $1.writtenByteCount } <= 100 << 10)
    let first = try #require(kept.first?.firstCommit)
    var count: UInt64 = 0
    try store.engine.forEachCommit(after: CommitSequence(first.rawValue - 1)) { _ in
      count += 1
      return .proceed
    }
    #expect(count == store.engine.lastCommit.rawValue - first.rawValue + 1)
    // All but the active segment and the history is packed on demand; and that, too, if it need not stay.
    try store.engine.compact()
    #expect(try store.engine.compact() == .isHistory)
    #expect(try store.engine.compact(keeping: .nothing).report?.segmentCount ?? 0 >= kept.count)
    #expect(store.engine.statistics().historyByteCount == 0)
    #expect(try MemoryStore.rows(of: store.engine) == store.rows)
  }

  @Test func `goes on after calls that failed`() throws {
    let disk = SimulatedFileSystem(seed: 4)
    var options = MemoryStore.options()
    options.compaction = .automatic
    options.reads = .copied
    let engine = try StorageEngine.open(at: "/store", options: options, fileSystem: disk)
    try engine.apply(MemoryStore.tableChanges)
    let text = String(repeating: "y", count: 300)
    func insert(_ number: Int64) throws {
      var batch = engine.makeBatch()
      let key = engine.reserveKeys(1, in: 1).lowerBound
      let reference = RowReference(table: 1, key: key)
      batch.insert(
        reference,
        layout: LayoutNumber(1),
        row: MemoryStore.row(number, text).span.bytes
      )
      try engine.commit(&batch)
    }
    for number in 0..<1000 { try insert(Int64(number)) }
    disk.setFaults(FaultPlan([Fault(.open, number: 1, .forEver, .error(5))]))
    for _ in 0..<8 { engine.performBackgroundWork() }
    let failed = engine.statistics().compaction
    #expect(failed.failureCount > 0 && failed.count == 0)
    #expect(
      failed.lastFailure
        == .inputOutput(path: "/store/tmp/pack", operation: .open, errno: 5)
    )
    disk.setFaults(FaultPlan())
    #expect(engine.rowCount(of: 1) == 1000)
    try insert(1000)
    #expect(try engine.compact().report != nil)
    #expect(try engine.verify().isSound)
  }

  /// Commits from three threads and the threads of the engine, as in a program.
  @Test func `takes commits from many threads meanwhile`() async throws {
    let store = try makeStore { options in
      options.background = .ownThread
      options.compactionStepByteCount = 64 << 10
    }
    let engine = store.engine
    try await withThrowingTaskGroup { group in
      for worker in 0..<3 as Range<Int64> {
        group.addTask {
          let keys = engine.reserveKeys(20, in: 1)
          for round in 0..<3000 as Range<Int64> {
            var batch = engine.makeBatch()
            let key = keys.lowerBound + UInt64(round % 20)
            let reference = RowReference(table: 1, key: key)
            let text = String(repeating: "\(worker)", count: 100)
            let row = MemoryStore.row(round, text)
            if round < 20 {
              batch.insert(reference, layout: LayoutNumber(1), row: row.span.bytes)
            } else {
              batch.update(reference, layout: LayoutNumber(1), changed: .all, row: row.span.bytes)
            }
            try engine.commit(&batch)
          }
        }
      }
      try await group.waitForAll()
    }
    // The background is told by a commit, and has as long as it takes.
    while engine.statistics().compaction.count == 0 {
      try store.commit([.insert(-1, "more")])
      await Task.yield()
    }
    try engine.close()
    let rows = try MemoryStore.rows(of: engine)
    for worker in 0..<3 {
      for last in 2980..<3000 {
        #expect(rows.values.contains("\(last) " + String(repeating: "\(worker)", count: 100)))
      }
    }
    let again = try StorageEngine.open(
      at: store.path,
      options: MemoryStore.options(),
      fileSystem: store.disk
    )
    #expect(try MemoryStore.rows(of: again) == rows)
    #expect(try again.verify().isSound)
  }
}

@Suite struct `What comes of asking for a compaction` {
  private func makeStore() throws -> MemoryStore {
    let store = try MemoryStore()
    try store.work(150, textLength: 300)
    return store
  }

  @Test func `is to wait for a read that does not end`() throws {
    let store = try makeStore()
    let key = try #require(store.rows.keys.first)
    let outcome = try store.engine.withRow(RowReference(table: 1, key: key)) { _, _ in
      try store.engine.compact()
    }
    #expect(outcome == .waitsForRead)
    #expect(try store.engine.compact().report != nil)
  }

  @Test func `is to wait for a view that holds all there is`() throws {
    let store = try MemoryStore()
    let view = store.engine.makeReadView()
    try store.work(150, textLength: 300)
    #expect(try store.engine.compact() == .waitsForView(of: view.sequence))
    #expect(view.sequence == CommitSequence(1))
  }

  @Test func `is to wait for a view of an earlier commit that came meanwhile`() throws {
    let store = try makeStore()
    var views: [ReadView] = []
    let outcome = try store.engine.compact { _ in
      if let view = try? store.engine.makeReadView(at: CommitSequence(20)) { views.append(view) }
      return .proceed
    }
    #expect(outcome == .waitsForView(of: CommitSequence(20)))
    for view in views { #expect(try MemoryStore.rows(of: view) == store.history[20]) }
    views = []
    #expect(try store.disk.list("\(store.path)/pack") == [])
    #expect(try store.engine.compact().report != nil)
  }

  @Test func `the obstacle to a compaction is that all is history`() throws {
    let store = try MemoryStore { $0.history = .everything }
    try store.work(150, textLength: 300)
    #expect(try store.engine.compact() == .isHistory)
    #expect(try store.engine.compact(keeping: .nothing).report != nil)
  }

  @Test func `is an error of a store that is closed`() throws {
    let store = try makeStore()
    let engine = store.engine
    try store.close()
    #expect(throws: StorageError.closed(path: store.path)) { try engine.compact() }
  }
}

extension MemoryStore {
  /// Replaces a row as a whole.
  func replace(_ key: UInt64, _ number: Int64, _ text: String) throws {
    try commit([.replace(key, number, text)])
  }
}

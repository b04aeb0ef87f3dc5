import LogEngine
import LogTools
import LogEngineTestSupport
import RowFormat
import Synchronization
import Testing

@Suite struct `A follower` {
  /// Holds what a follower sees against what the store held after that commit.
  private func check(_ follower: StorageEngine, _ store: MemoryStore, _ note: String = "") throws {
    let expected = store.history[Int(follower.lastCommit.rawValue)]
    #expect(try MemoryStore.rows(of: follower) == expected, "\(note)")
    #expect(follower.rowCount(of: 1) == expected.count, "\(note)")
  }

  private func checkIsUpToDate(_ follower: StorageEngine, _ store: MemoryStore) throws {
    #expect(try follower.refresh() == CommitSequence(UInt64(store.history.count - 1)))
    try check(follower, store)
  }

  @Test func `sees each commit after the next refresh, and not before`() throws {
    let store = try MemoryStore()
    let follower = try store.openReader()
    for round in 0..<20 {
      let before = follower.lastCommit
      try store.work(round % 3)
      #expect(follower.lastCommit == before)
      try checkIsUpToDate(follower, store)
    }
  }

  @Test func `follows from segment to segment`() throws {
    let store = try MemoryStore()
    let follower = try store.openReader()
    for _ in 0..<10 {
      try store.work(7, textLength: 9000)
      store.engine.performBackgroundWork()
      try checkIsUpToDate(follower, store)
    }
    #expect(store.segments.count > 5)
  }

  @Test func `that stayed behind passes many segments at once`() throws {
    let store = try MemoryStore()
    let follower = try store.openReader()
    try store.work(40, textLength: 20_000)
    #expect(store.segments.count > 5)
    try checkIsUpToDate(follower, store)
  }

  enum End: CaseIterable, Sendable { case closed, killed }

  @Test(arguments: End.allCases)
  func `goes on with the next writer`(end: End) throws {
    let store = try MemoryStore()
    try store.work()
    let follower = try store.openReader()
    for round in 0..<6 {
      try store.work(2, textLength: 100)
      if end == .closed { try store.close() } else { store.abandon() }
      if round % 2 == 0 { try checkIsUpToDate(follower, store) }
      try store.open()
      if round % 3 == 0 { try checkIsUpToDate(follower, store) }
      // Beyond where the file was cut off.
      try store.work(5, textLength: 3000)
      try checkIsUpToDate(follower, store)
    }
  }

  @Test func `begins with an empty store`() throws {
    let disk = InMemoryFileSystem()
    let writer = try StorageEngine.open(
      at: "empty",
      options: MemoryStore.options(),
      fileSystem: disk
    )
    let follower = try StorageEngine.open(
      at: "empty",
      options: MemoryStore.options(.readOnly),
      fileSystem: disk
    )
    #expect(try follower.refresh() == .zero)
    try writer.apply(MemoryStore.tableChanges)
    #expect(follower.catalogue.tables.isEmpty)
    #expect(try follower.refresh() == CommitSequence(1))
    #expect(follower.catalogue == writer.catalogue)
  }

  @Test func `begins with a checkpoint, and goes on while others are written`() throws {
    let store = try MemoryStore()
    try store.work(20, textLength: 6000)
    try store.engine.checkpoint()
    try store.work(2)
    let follower = try store.openReader()
    #expect(follower.recovery.checkpoint != nil)
    #expect(follower.recovery.scannedCommitCount == 2)
    for _ in 0..<6 {
      let view = follower.makeReadView()
      try store.work(5, textLength: 6000)
      try store.engine.checkpoint()
      try checkIsUpToDate(follower, store)
      #expect(try MemoryStore.rows(of: view) == store.history[Int(view.sequence.rawValue)])
    }
    #expect(try follower.verify().problems.isEmpty)
  }

  @Test func `keeps its views as they were`() throws {
    let store = try MemoryStore()
    try store.work(4)
    let follower = try store.openReader()
    var views: [ReadView] = []
    for _ in 0..<10 {
      views.append(follower.makeReadView())
      try store.work(3, textLength: 4000)
      try follower.refresh()
    }
    for view in views {
      let expected = store.history[Int(view.sequence.rawValue)]
      #expect(try MemoryStore.rows(of: view) == expected)
      #expect(view.rowCount(of: 1) == expected.count)
    }
  }

  @Test func `sees a table that is removed go, and its views keep it`() throws {
    let store = try MemoryStore()
    try store.work(4)
    let follower = try store.openReader()
    let view = follower.makeReadView()
    try store.engine.apply([.removeTable(1), .addTable(name: "other")])
    try follower.refresh()
    #expect(follower.catalogue == store.engine.catalogue)
    #expect(try MemoryStore.rows(of: follower).isEmpty)
    #expect(try MemoryStore.rows(of: view) == store.rows)
  }

  @Test func `sees only whole commits, at whatever call the writer goes on`() throws {
    let store = try MemoryStore()
    try store.work(3)
    let isWorking = Mutex(false)
    let fileSystem = HookedFileSystem(store.disk) { call in
      guard isWorking.withLock({ $0 }) else { return }
      try store.work(1, textLength: call.number % 5 == 0 ? 20_000 : 10)
      if call.number % 31 == 0 { store.engine.performBackgroundWork() }
      if call.number % 50 == 0 {
        store.abandon()
        try store.open()
      }
      // The follower must come to an end some day.
      if call.number % 23 == 0 { isWorking.withLock { $0 = false } }
    }
    let follower = try store.openReader(on: fileSystem)
    for round in 0..<40 {
      isWorking.withLock { $0 = true }
      try follower.refresh()
      isWorking.withLock { $0 = false }
      try fileSystem.rethrow()
      try check(follower, store, "round \(round)")
    }
    try checkIsUpToDate(follower, store)
    #expect(store.segments.count > 5)
  }

  @Test func `takes a commit that is only partly written for one that is not there yet`() throws {
    let store = try MemoryStore()
    try store.work(2)
    let path = try #require(store.segments.last)
    let before = try store.bytes(of: path)
    let known = store.history.count - 1
    try store.work(1, textLength: 700)
    let after = try store.bytes(of: path)
    let start = try #require(zip(before, after).enumerated().first { $1.0 != $1.1 }?.offset)
    let end = try #require(after.lastIndex { $0 != 0 }) + 1
    store.abandon()
    for cut in start..<end {
      var bytes = after
      for index in cut..<end { bytes[index] = 0 }
      try store.write(before, to: path)
      let follower = try store.openReader()
      try store.write(bytes, to: path)
      let isWhole = try follower.refresh().rawValue != known
      // Trailing zeros of the last frame are no different from zeros that were never written.
      if isWhole { #expect(cut > end - 8) }
      try store.write(after, to: path)
      #expect(try follower.refresh().rawValue == known + 1, "cut at \(cut)")
      try check(follower, store)
    }
  }

  @Test func `tells damage from what is not there yet, and keeps what it has`() throws {
    let store = try MemoryStore()
    try store.work(2)
    let path = try #require(store.segments.last)
    let before = try store.bytes(of: path)
    try store.work(3, textLength: 100)
    store.abandon()
    let after = try store.bytes(of: path)
    let start = try #require(zip(before, after).enumerated().first { $1.0 != $1.1 }?.offset)
    try store.write(before, to: path)
    let follower = try store.openReader()
    let known = follower.lastCommit
    var damaged = after
    damaged[start + 60] ^= 4
    try store.write(damaged, to: path)
    #expect(throws: StorageError.self) { try follower.refresh() }
    #expect(follower.lastCommit == known)
    try check(follower, store)
    // It was the other process that put it right; the follower goes on.
    try store.write(after, to: path)
    try checkIsUpToDate(follower, store)
  }

  /// Brings a follower up to date, opening it anew if it was left behind.
  ///
  /// - Returns: Whether it was.
  @discardableResult
  private func refresh(
    _ follower: inout StorageEngine,
    of store: MemoryStore,
    on fileSystem: (any FileSystem)? = nil
  ) throws -> Bool {
    do throws(StorageError) {
      try follower.refresh()
      return false
    } catch {
      guard case .commitGone = error else { throw error }
      follower = try store.openReader(on: fileSystem)
      return true
    }
  }

  @Test(arguments: 0..<12 as Range<UInt64>)
  func `goes on while the log is compacted`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let store = try MemoryStore()
    try store.work(150, textLength: 300)
    var follower = try store.openReader()
    var view: ReadView?
    for round in 0..<30 {
      let count = Int(random.next() % 12)
      if count > 0 { try store.work(count, textLength: 100 << Int(random.next() % 6)) }
      let keys = store.rows.keys.sorted()
      try store.commit([.update(keys[Int(random.next() % UInt64(keys.count))], Int64(round))])
      if random.next() % 3 == 0 { try store.engine.compact() }
      if random.next() % 9 == 0 {
        store.abandon()
        try store.open()
      }
      if random.next() % 4 == 0 { continue }
      try refresh(&follower, of: store)
      if view == nil { try checkIsUpToDate(follower, store) } else { try check(follower, store) }
      if let view {
        let expected = store.history[Int(view.sequence.rawValue)]
        let rows = try MemoryStore.rows(of: view)
        #expect(rows.count == expected.count && rows == expected, "view in round \(round)")
      }
      if random.next() % 3 == 0 { view = random.next() % 2 == 0 ? follower.makeReadView() : nil }
    }
    view = nil
    try refresh(&follower, of: store)
    try checkIsUpToDate(follower, store)
    // A segment may have been begun when its writer was killed.
    let problems = try follower.verify().problems.filter { $0.kind != .unfinished }
    #expect(problems == [], "\(problems)")
  }

  @Test func `lets go of what was packed, as soon as no view needs it`() throws {
    let store = try MemoryStore()
    try store.work(150, textLength: 300)
    let follower = try store.openReader()
    let first = try #require(follower.statistics().segments.first).segment
    var view: ReadView? = follower.makeReadView()
    let expected = store.rows
    try store.commit([.update(store.rows.keys.max() ?? 0, 5)])
    try store.engine.compact()
    try store.commit([.update(store.rows.keys.min() ?? 0, 6)])
    for _ in 0..<3 {
      try store.work(2, textLength: 40_000)
      try follower.refresh()
      try check(follower, store)
      #expect(follower.statistics().segments.contains { $0.segment == first })
      #expect(try view.map(MemoryStore.rows(of:)) == expected)
    }
    view = nil
    try checkIsUpToDate(follower, store)
    #expect(!follower.statistics().segments.contains { $0.segment == first })
  }

  @Test func `that missed segments which were packed says so, and can be opened anew`() throws {
    let store = try MemoryStore()
    try store.work(10)
    let follower = try store.openReader()
    let known = follower.lastCommit
    for _ in 0..<2 {
      try store.work(100, textLength: 1000)
      try store.engine.compact()
    }
    #expect {
      try follower.refresh()
    } throws: { error in
      guard case .commitGone(let missed, let oldest)? = error as? StorageError else { return false }
      return known < missed && missed < oldest
    }
    try check(follower, store)
    let another = try store.openReader()
    try checkIsUpToDate(another, store)
  }

  @Test func `sees only whole commits while the log is compacted, at whatever call`() throws {
    let store = try MemoryStore()
    try store.work(60, textLength: 300)
    let isWorking = Mutex(false)
    let fileSystem = HookedFileSystem(store.disk) { call in
      guard isWorking.withLock({ $0 }) else { return }
      isWorking.withLock { $0 = false }
      try store.work(1, textLength: call.number % 5 == 0 ? 20_000 : 10)
      let history = HistoryRetention(byteCount: 200_000)
      if call.number % 3 == 0 { try store.engine.compact(keeping: history) }
      isWorking.withLock { $0 = call.number % 11 != 0 }
    }
    var follower = try store.openReader(on: fileSystem)
    var reopenedCount = 0
    for round in 0..<60 {
      isWorking.withLock { $0 = true }
      if try refresh(&follower, of: store, on: fileSystem) { reopenedCount += 1 }
      isWorking.withLock { $0 = false }
      try fileSystem.rethrow()
      try check(follower, store, "round \(round)")
    }
    try checkIsUpToDate(follower, store)
    #expect(reopenedCount < 10)
  }

  @Test func `of a store it writes to itself has nothing to do`() throws {
    let store = try MemoryStore()
    try store.work()
    #expect(try store.engine.refresh() == store.engine.lastCommit)
  }
}

import LogEngineTestSupport
import RowFormat
import Synchronization
import Testing

@testable import LogEngine
@testable import LogFormat
@testable import LogTools

@Suite struct `A compacted store` {
  /// A store whose log has gone through some segments.
  private func makeStore(_ count: Int = 150) throws -> MemoryStore {
    let store = try MemoryStore()
    try store.work(count, textLength: 300)
    return store
  }

  private func files(_ store: MemoryStore, _ directory: String) throws -> Int {
    try store.disk.list("\(store.path)/\(directory)")?.count ?? 0
  }

  @Test func `holds what it held, in fewer bytes and without the old segments`() throws {
    let store = try makeStore()
    let before = store.segments.count
    let report = try #require(try store.engine.compact().report)
    #expect(report.segmentCount >= before - 2)
    #expect(report.rowCount > 0 && report.writtenByteCount < report.readByteCount / 2)
    #expect(store.segments.count <= 2)
    #expect(try files(store, "pack") == report.newPackCount)
    #expect(try MemoryStore.rows(of: store.engine) == store.rows)
    for (key, _) in store.rows {
      #expect(try store.engine.contains(RowReference(table: 1, key: key)))
    }
    #expect(try store.engine.compact() == .nothingToDo)
    #expect(try store.engine.verify().isSound)
  }

  @Test func `is scanned in the order of keys, however its rows are spread over packs and log`()
    throws
  {
    let store = try MemoryStore()
    var random = SeededGenerator(seed: 3)
    try store.work(200, textLength: 300)
    try store.engine.compact()
    for round in 0..<4 {
      let keys = store.rows.keys.sorted()
      try store.commit(
        (0..<(keys.count / 6)).map { part in
          .update(keys[part * 6 + Int(random.next() % 6)], Int64(round))
        }
      )
      try store.work(60, textLength: 1200)
      try store.engine.compact()
    }
    #expect(try files(store, "pack") > 1)
    var keys: [UInt64] = []
    try store.engine.scan(1) { key, _, _ in
      keys.append(key)
      return .proceed
    }
    #expect(keys == store.rows.keys.sorted())
    #expect(try MemoryStore.rows(of: store.engine) == store.rows)
  }

  @Test func `has its rows replaced and deleted without unpacking the old ones`() throws {
    let store = try makeStore()
    try store.engine.compact()
    for key in store.rows.keys.sorted() {
      try store.commit([key % 3 == 0 ? .delete(key) : .replace(key, 7, "new")])
    }
    let cache = store.engine.statistics().blockCache
    #expect(cache.byteCount == 0 && cache.reads == BlockReads())
    #expect(try MemoryStore.rows(of: store.engine) == store.rows)
    #expect(try store.engine.verify().isSound)
  }

  @Test func `is opened from its packs alone where there is no checkpoint`() throws {
    let store = try makeStore()
    for round in 0..<3 {
      try store.engine.compact()
      try store.work(60, textLength: 300)
      store.abandon()
      for name in try store.disk.list("\(store.path)/index") ?? [] {
        try store.disk.unlink("\(store.path)/index/\(name)")
      }
      try store.open()
      #expect(store.engine.recovery.checkpoint == nil, "round \(round)")
      #expect(try MemoryStore.rows(of: store.engine) == store.rows)
      #expect(store.engine.rowCount(of: 1) == store.rows.count)
      #expect(try store.engine.verify().isSound)
    }
  }

  @Test func `keeps no pack of which nothing is needed`() throws {
    let store = try makeStore()
    try store.engine.compact()
    // Every packed row is replaced by one that is packed next.
    for key in store.rows.keys.sorted() { try store.commit([.update(key, 7)]) }
    try store.work(60, textLength: 1200)
    let report = try #require(try store.engine.compact().report)
    #expect(report.packCount > 0)
    let usage = store.engine.statistics().segments
    let dead = usage.reduce(0) { $0 + $1.usage.deadByteCount }
    let live = usage.reduce(0) { $0 + $1.usage.liveByteCount }
    #expect(dead * 3 <= live, "\(dead) dead, \(live) live")
    #expect(try store.engine.compact() == .nothingToDo)
    #expect(try MemoryStore.rows(of: store.engine) == store.rows)
    #expect(try store.engine.verify().isSound)
  }

  @Test func `never gives the key of a deleted row again`() throws {
    let store = try MemoryStore()
    let keys = try store.commit((0..<40).map { .insert($0, String(repeating: "y", count: 300)) })
    try store.commit(keys.map { .delete($0) })
    for _ in 0..<30 {
      let passing = try store.commit([.insert(1, String(repeating: "z", count: 800))])
      try store.commit(passing.map { .delete($0) })
    }
    let next = store.engine.nextKey(in: 1)
    try store.engine.compact()
    try store.close()
    for name in try store.disk.list("\(store.path)/index") ?? [] {
      try store.disk.unlink("\(store.path)/index/\(name)")
    }
    try store.open()
    #expect(store.engine.nextKey(in: 1) == next)
    #expect(try MemoryStore.rows(of: store.engine).isEmpty)
    var batch = store.engine.makeBatch()
    batch.insert(
      RowReference(table: 1, key: keys[3]),
      layout: LayoutNumber(1),
      row: MemoryStore.row(1, "again").span.bytes
    )
    #expect(throws: StorageError.rowExists(RowReference(table: 1, key: keys[3]))) {
      try store.engine.commit(&batch)
    }
  }

  @Test func `goes on showing a view what it saw`() throws {
    let store = try makeStore(80)
    let expected = store.rows
    let view = store.engine.makeReadView()
    try store.work(80, textLength: 300)
    for key in store.rows.keys.sorted().prefix(20) { try store.commit([.delete(key)]) }
    try store.engine.compact()
    #expect(try MemoryStore.rows(of: view) == expected)
    #expect(try MemoryStore.rows(of: store.engine) == store.rows)
  }

  @Test func `shows no commit that was folded`() throws {
    let store = try makeStore()
    let early = CommitSequence(20)
    #expect(try MemoryStore.rows(of: store.engine.makeReadView(at: early)) == store.history[20])
    try store.engine.compact()
    #expect(throws: StorageError.self) { try store.engine.makeReadView(at: early) }
    #expect(throws: StorageError.self) {
      try store.engine.forEachCommit(after: early) { _ in .proceed }
    }
    let newest = store.engine.lastCommit
    try store.work(30, textLength: 300)
    let view = try store.engine.makeReadView(at: newest)
    #expect(try MemoryStore.rows(of: view) == store.history[Int(newest.rawValue)])
  }

  @Test(arguments: 0..<6 as Range<UInt64>)
  func `takes commits while it is being made`(seed: UInt64) throws {
    let store = try makeStore()
    try store.engine.compact()
    try store.work(100, textLength: 300)
    var random = SeededGenerator(seed: seed)
    let choices = (0..<400).map { _ in random.next() }
    let next = Mutex(0)
    let outcome = try store.engine.compact { _ in
      let choice = next.withLock { next in
        next += 1
        return choices[next % choices.count]
      }
      let keys = store.rows.keys.sorted()
      let key = keys[Int(choice % UInt64(keys.count))]
      switch choice >> 32 % 4 {
      case 0: _ = try? store.commit([.delete(key)])
      case 1: _ = try? store.commit([.insert(Int64(choice % 1000), "meanwhile")])
      default: _ = try? store.commit([.update(key, Int64(choice % 1000))])
      }
      return .proceed
    }
    #expect(outcome.report != nil)
    #expect(try MemoryStore.rows(of: store.engine) == store.rows)
    #expect(try store.engine.verify().isSound)
    try store.work(20)
    store.abandon()
    try store.open()
    #expect(try MemoryStore.rows(of: store.engine) == store.rows)
    #expect(try store.engine.verify().isSound)
  }

  @Test func `takes a commit that was filled before it was compacted`() throws {
    let store = try makeStore()
    let keys = store.rows.keys.sorted()
    var batch = store.engine.makeBatch()
    var changed = ColumnSet()
    changed.insert(0)
    for key in [keys[0], keys[5]] {
      batch.update(
        RowReference(table: 1, key: key),
        layout: LayoutNumber(1),
        changed: changed,
        row: MemoryStore.row(77, "not this text").span.bytes
      )
    }
    batch.delete(RowReference(table: 1, key: keys[9]))
    try store.engine.compact()
    try store.engine.commit(&batch)
    let rows = try MemoryStore.rows(of: store.engine)
    #expect(rows[keys[9]] == nil)
    #expect(rows[keys[0]]?.hasPrefix("77 ") == true && rows[keys[5]]?.hasPrefix("77 ") == true)
    #expect(rows[keys[0]]?.hasSuffix("not this text") == false)
    #expect(try store.engine.verify().isSound)
  }

  @Test func `of which everything is packed has no commit to show, and goes on`() throws {
    let store = try makeStore(20)
    try store.engine.compact()
    #expect(try store.engine.compact() == .nothingToDo)
    try store.engine.forEachCommit { commit in
      Issue.record("commit \(commit.sequence)")
      return .proceed
    }
    try store.close()
    try store.open()
    #expect(try MemoryStore.rows(of: store.engine) == store.rows)
    try store.work(1)
    var count = 0
    try store.engine.forEachCommit { _ in
      count += 1
      return .proceed
    }
    #expect(count == 1)
    #expect(try store.engine.verify().isSound)
  }

  @Test func `is as it was if compaction is stopped`() throws {
    let store = try makeStore()
    // A segment that was begun to be packed stays begun.
    _ = try store.engine.compact { _ in .stop }
    let before = try store.disk.allFiles(in: store.path)
    #expect(try store.engine.compact { _ in .stop } == .stopped)
    #expect(try store.disk.allFiles(in: store.path) == before)
    #expect(try MemoryStore.rows(of: store.engine) == store.rows)
    #expect(try store.engine.compact().report != nil)
  }

  @Test func `can be copied while it is open`() throws {
    let store = try makeStore()
    try store.engine.compact()
    try store.work(20)
    try store.engine.backup(to: "copy")
    let copy = try StorageEngine.open(
      at: "copy",
      options: MemoryStore.options(),
      fileSystem: store.disk
    )
    #expect(try MemoryStore.rows(of: copy) == store.rows)
    #expect(try copy.verify().isSound)
  }

  @Test func `is read by a follower that opens it`() throws {
    let store = try makeStore()
    try store.engine.compact()
    try store.work(20)
    let follower = try store.openReader()
    #expect(try MemoryStore.rows(of: follower) == store.rows)
    try store.work(20)
    try follower.refresh()
    #expect(try MemoryStore.rows(of: follower) == store.rows)
  }

  @Test func `with a pack that is gone, cut off or another's does not open`() throws {
    let store = try makeStore()
    try store.engine.compact()
    try store.close()
    let name = try #require(try store.disk.list("\(store.path)/pack")?.first)
    let path = "\(store.path)/pack/\(name)"
    let good = try store.bytes(of: path)
    for bad in [[], Array(good.dropLast()), [UInt8](repeating: 0, count: good.count)] {
      try store.write(bad, to: path)
      #expect(throws: StorageError.self) { try store.open() }
    }
    try store.disk.unlink(path)
    #expect(throws: StorageError.self) { try store.open() }
    try store.write(good, to: path)
    try store.open()
    #expect(try MemoryStore.rows(of: store.engine) == store.rows)
  }
}

@Suite struct `What readers may be using` {
  private final class Resource: Sendable {
    let released: @Sendable () -> Void
    init(_ released: @escaping @Sendable () -> Void) { self.released = released }
    deinit { released() }
  }

  @Test func `is let go when the last of them has left`() {
    let epochs = ReaderEpochs()
    let count = Mutex(0)
    let early = epochs.enter()
    epochs.retire([Resource { count.withLock { $0 += 1 } }])
    let late = epochs.enter()
    #expect(count.withLock { $0 } == 0)
    #expect(!epochs.drain())
    epochs.leave(early)
    epochs.collect()
    #expect(count.withLock { $0 } == 1)
    epochs.retire([Resource { count.withLock { $0 += 1 } }])
    #expect(count.withLock { $0 } == 1)
    epochs.leave(late)
    epochs.collect()
    #expect(count.withLock { $0 } == 2)
    #expect(epochs.drain())
  }
}

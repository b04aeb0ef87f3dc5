import LogEngine
import RowFormat
import Testing

@Suite struct `A store's statistics` {
  @Test func `count what was committed, written and is needed`() throws {
    let store = try MemoryStore()
    try store.work(30, textLength: 6000)
    let statistics = store.engine.statistics()
    #expect(statistics.lastCommit == store.engine.lastCommit)
    #expect(statistics.writing.commitCount == 31)
    #expect(statistics.writing.groupCount == 31)
    #expect(statistics.writing.groupSizes.prefix(2) == [31, 0])
    #expect(statistics.writing.synchronizationCount >= 31)
    #expect(statistics.writing.byteCount == statistics.logByteCount)
    #expect(statistics.durableByteCount == statistics.logByteCount)
    #expect(statistics.segments.count == store.segments.count)
    let sizes = try store.segments.map { try store.disk.size(of: $0) ?? 0 }
    #expect(statistics.segments.map(\.fileByteCount) == sizes)
    #expect(statistics.fileByteCount == sizes.reduce(0, +))
    let written = statistics.segments.reduce(0) { $0 + $1.writtenByteCount - 4096 }
    #expect(written == statistics.logByteCount)
    #expect(statistics.supersededByteCount > 0)
    let table = try #require(statistics.tables.first)
    #expect(table.name == "numbers")
    #expect(table.rowCount == store.rows.count)
    #expect(table.usage.liveByteCount < statistics.liveByteCount)
    #expect(table.usage.deadByteCount == statistics.supersededByteCount)
    #expect(table.indexByteCount == statistics.indexByteCount)
    #expect(table.indexByteCount >= 4096)
    #expect(statistics.segments.first?.firstCommit == CommitSequence(1))
  }

  @Test(arguments: [HistoryRetention.nothing, .everything])
  func `call dead what is superseded and not history, as the usage of space does`(
    history: HistoryRetention
  ) throws {
    let store = try MemoryStore { $0.history = history }
    try store.work(60, textLength: 6000)
    let statistics = store.engine.statistics()
    let usage = try store.engine.spaceUsage()
    #expect((statistics.historyByteCount > 0) == (history == .everything))
    #expect(statistics.deadByteCount == usage.deadByteCount)
    #expect(statistics.historyByteCount == usage.historyByteCount)
    #expect(
      statistics.supersededByteCount == statistics.deadByteCount + statistics.historyByteCount
    )
  }

  @Test func `are the same for every reader, except for what was written`() throws {
    let store = try MemoryStore()
    let follower = try store.openReader()
    try store.work(30, textLength: 6000)
    try follower.refresh()
    let found = follower.statistics()
    let expected = store.engine.statistics()
    #expect(found.lastCommit == expected.lastCommit)
    #expect(found.logByteCount == expected.logByteCount)
    #expect(found.tables.map(\.usage) == expected.tables.map(\.usage))
    #expect(found.segments.map(\.usage) == expected.segments.map(\.usage))
    #expect(found.writing == WritingStatistics.none)
  }

  @Test func `tell which bytes of files a view keeps from being packed`() throws {
    let store = try MemoryStore()
    try store.work(30, textLength: 3000)
    #expect(store.engine.statistics().pins.heldByteCount == 0)
    let view = store.engine.makeReadView()
    let seen = store.engine.statistics().segments
    try store.work(60, textLength: 3000)
    let held = store.engine.statistics()
    // The segment the view was made in, and those sealed since.
    let kept = held.segments.dropFirst(seen.count - 1).dropLast()
    #expect(kept.count > 2)
    #expect(held.pins.heldByteCount == kept.reduce(0) { $0 + $1.fileByteCount })
    withExtendedLifetime(view) {}
  }

  @Test func `tell what was written, and kept, for what is needed`() throws {
    let store = try MemoryStore()
    let empty = try MemoryStore().engine.statistics()
    #expect(empty.spaceAmplification >= 1)
    try store.work(100, textLength: 1000)
    let before = store.engine.statistics()
    #expect(before.writing.writeAmplification == 1)
    #expect(before.compaction.rate == 0)
    let live = before.segments.reduce(0) { $0 + $1.usage.liveByteCount }
    #expect(before.spaceAmplification == Double(before.fileByteCount) / Double(live))
    let report = try #require(try store.engine.compact().report)
    let after = store.engine.statistics()
    #expect(after.writing.packByteCount == report.writtenByteCount)
    #expect(after.writing.writeAmplification > 1)
    #expect(after.compaction.last == report)
    #expect(after.compaction.duration == report.duration)
    #expect(after.compaction.rate == report.bytesPerSecond)
    #expect(after.compaction.rate > 0)
  }

  @Test func `count how often rows of packs were at hand`() throws {
    let store = try MemoryStore()
    try store.work(100, textLength: 100)
    try store.engine.compact()
    let before = store.engine.statistics().blockCache
    for _ in 0..<10 {
      for key in store.rows.keys {
        _ = try store.engine.withRow(RowReference(table: 1, key: key)) { _, _ in }
      }
    }
    let cache = store.engine.statistics().blockCache
    let reads = cache.reads.hitCount + cache.reads.missCount
    #expect(reads - before.reads.hitCount - before.reads.missCount == 10 * store.rows.count)
    #expect(cache.reads.missCount >= 1)
    #expect(cache.reads.hitRatio > 0.9)
    #expect(cache.byteCount > 0)
    #expect(cache.byteLimit == EngineOptions().blockCacheByteCount)
    #expect(cache.evictionCount == 0)
    #expect(try MemoryStore().engine.statistics().blockCache.reads.hitRatio == 1)
  }

  @Test func `name the oldest view`() throws {
    let store = try MemoryStore()
    #expect(store.engine.statistics().pins.count == 0)
    #expect(store.engine.statistics().pins.oldestAge == nil)
    let view = store.engine.makeReadView()
    try store.work(2)
    let other = store.engine.makeReadView()
    let pins = store.engine.statistics().pins
    #expect(pins.count == 2)
    #expect(pins.oldestCommit == view.sequence)
    #expect(try #require(pins.oldestAge) >= .zero)
    _ = other
  }
}

extension WritingStatistics {
  /// The statistics in a process that wrote nothing.
  fileprivate static var none: WritingStatistics? {
    let disk = InMemoryFileSystem()
    return try? StorageEngine.open(at: "store", options: MemoryStore.options(), fileSystem: disk)
      .statistics().writing
  }
}

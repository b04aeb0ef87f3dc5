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
    #expect(statistics.deadByteCount > 0)
    let table = try #require(statistics.tables.first)
    #expect(table.name == "numbers")
    #expect(table.rowCount == store.rows.count)
    #expect(table.usage.liveByteCount < statistics.liveByteCount)
    #expect(table.usage.deadByteCount == statistics.deadByteCount)
    #expect(table.indexByteCount == statistics.indexByteCount)
    #expect(table.indexByteCount >= 4096)
    #expect(statistics.segments.first?.firstCommit == CommitSequence(1))
  }

  @Test func `are the same for whoever reads the store, but for what was written`() throws {
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
  /// Of a process that wrote nothing.
  fileprivate static var none: WritingStatistics? {
    let disk = InMemoryFileSystem()
    return try? StorageEngine.open(at: "store", options: MemoryStore.options(), fileSystem: disk)
      .statistics().writing
  }
}

import LogEngine
import LogTools
import RowFormat
import Testing

@Suite struct `The usage of files` {
  private func sums(_ usage: StoreUsage) -> [Int] {
    [usage.total.liveByteCount, usage.total.historyByteCount, usage.total.deadByteCount]
  }

  @Test func `adds up to what the counters say`() throws {
    let store = try MemoryStore()
    try store.work(40, textLength: 3000)
    let usage = try store.engine.fileUsage()
    let statistics = store.engine.statistics()
    #expect(usage.total.liveByteCount == statistics.liveByteCount)
    #expect(usage.total.historyByteCount == statistics.supersededByteCount)
    #expect(usage.total.deadByteCount == 0)
    #expect(usage.oldestCommit == .zero)
    for segment in statistics.segments {
      let file = usage.segments[segment.segment] ?? FileUsage()
      #expect(file.recordByteCount == segment.usage.recordByteCount)
    }
  }

  @Test func `calls dead what no commit that can be read needs`() throws {
    let store = try MemoryStore()
    try store.work(60, textLength: 3000)
    let report = try #require(try store.engine.compact().report)
    let compacted = try store.engine.fileUsage()
    #expect(compacted.oldestCommit == store.engine.lastCommit)
    // Nothing was committed since: there is no earlier state to be read, so nothing is history.
    #expect(compacted.total.historyByteCount == 0)
    #expect(compacted.packs.count == report.newPackCount)
    #expect(report.rowCount > 0)
    try store.work(20, textLength: 3000)
    let usage = try store.engine.fileUsage()
    #expect(usage.total.historyByteCount > 0)
    #expect(usage.total.deadByteCount == compacted.total.deadByteCount)
  }

  @Test func `calls dead what a removed table had`() throws {
    let store = try MemoryStore()
    try store.work(20, textLength: 1000)
    try store.engine.apply([.removeTable(1)])
    let usage = try store.engine.fileUsage()
    #expect(usage.tables[1]?.liveByteCount == 0)
    #expect(usage.tables[1]?.historyByteCount == 0)
    #expect((usage.tables[1]?.deadByteCount ?? 0) > 0)
  }
}

@Suite struct `A description of packs` {
  @Test func `says what each holds`() throws {
    let store = try MemoryStore()
    try store.work(60, textLength: 3000)
    let inspection = StoreInspection(at: store.path, fileSystem: store.disk)
    #expect(try inspection.packs().isEmpty)
    let report = try #require(try store.engine.compact().report)
    let packs = try inspection.packs()
    #expect(packs.count == report.newPackCount)
    #expect(packs.allSatisfy { $0.isNamed && $0.damage == nil })
    let contents = try packs.map { try #require($0.content) }
    #expect(contents.reduce(0) { $0 + $1.rowCount } == report.rowCount)
    #expect(packs.reduce(0) { $0 + $1.fileByteCount } == report.writtenByteCount)
    #expect(contents.allSatisfy { $0.firstCommit <= $0.lastCommit })
  }

  @Test func `says so if one cannot be read, wherever it is cut`() throws {
    let store = try MemoryStore()
    try store.work(60, textLength: 1000)
    _ = try store.engine.compact()
    let inspection = StoreInspection(at: store.path, fileSystem: store.disk)
    let pack = try #require(try inspection.packs().first)
    for size in stride(from: 0, to: pack.fileByteCount, by: 997) {
      try store.disk.open(pack.path, .write).setSize(size)
      let found = try #require(try inspection.packs().first)
      #expect(found.damage != nil && found.content == nil)
      #expect(found.fileByteCount == size)
    }
  }
}

import LogEngineTestSupport
import RowFormat
import Testing

@testable import LogEngine
@testable import LogFormat
@testable import LogTools

@Suite struct `A watch for rest` {
  @Test func `tells once that no commit came for a while`() {
    var watch = IdleWatch(delay: .seconds(1))
    func look(at sequence: UInt64, _ now: Int64) -> Bool { watch.look(at: sequence, now) }
    #expect(watch.wait(0) == nil)
    #expect(!look(at: 0, 5_000_000))
    #expect(!look(at: 1, 6_000_000))
    #expect(watch.wait(6_400_000) == 600_000)
    #expect(!look(at: 1, 6_999_999))
    #expect(look(at: 1, 7_000_000))
    #expect(watch.wait(7_000_000) == nil)
    #expect(!look(at: 1, 9_000_000))
    #expect(!look(at: 2, 9_000_000))
    #expect(look(at: 2, 10_000_000))
  }

  @Test func `never tells if it is not asked to`() {
    var watch = IdleWatch(delay: nil)
    func look(at sequence: UInt64, _ now: Int64) -> Bool { watch.look(at: sequence, now) }
    for now in 0..<10 as Range<Int64> {
      #expect(!look(at: 1, now * 1_000_000_000))
      #expect(watch.wait(now) == nil)
    }
  }

  @Test(arguments: [Int64.min, -3_600_000_000, 0])
  func `begins anew when the clock jumps back`(earlier: Int64) throws {
    var watch = IdleWatch(delay: .seconds(1))
    func look(at sequence: UInt64, _ now: Int64) -> Bool { watch.look(at: sequence, now) }
    #expect(!look(at: 1, 10_000_000))
    let wait = try #require(watch.wait(earlier))
    #expect((0...1_000_000).contains(wait))
    #expect(!look(at: 1, earlier))
    #expect(!look(at: 1, earlier + 999_999))
    #expect(look(at: 1, earlier + 1_000_000))
  }
}

@Suite struct `A store at rest` {
  private func makeStore(
    _ configure: @escaping @Sendable (inout EngineOptions) -> Void = { _ in }
  ) throws -> MemoryStore {
    try MemoryStore { options in
      options.compaction = .automatic
      options.idleDelay = .zero
      configure(&options)
    }
  }

  private func rest(_ store: MemoryStore) {
    for _ in 0..<60 { store.engine.performBackgroundWork() }
  }

  @Test func `has its last segment packed`() throws {
    let store = try makeStore()
    try store.work(30, textLength: 100)
    #expect(store.engine.statistics().segments.count == 1)
    rest(store)
    let statistics = store.engine.statistics()
    #expect(statistics.compaction.count == 1)
    #expect(statistics.segments.count == 1 && statistics.segments[0].usage.recordByteCount == 0)
    #expect(try MemoryStore.rows(of: store.engine) == store.rows)
    #expect(try store.engine.verify().isSound)
    store.abandon()
    try store.open()
    #expect(try MemoryStore.rows(of: store.engine) == store.rows)
  }

  @Test func `is not looked at again`() throws {
    let store = try makeStore()
    try store.work(30, textLength: 100)
    rest(store)
    let before = try store.disk.allFiles(in: store.path).map { "\($0) \(try store.bytes(of: $0))" }
    rest(store)
    let after = try store.disk.allFiles(in: store.path).map { "\($0) \(try store.bytes(of: $0))" }
    #expect(before == after)
    #expect(store.engine.statistics().compaction.count == 1)
    #expect(store.engine.writer?.housekeeper.delay == nil)
  }

  @Test func `is left as it is if that is not worth it`() throws {
    let store = try makeStore { $0.compactionPolicy.slackByteCount = 64 << 10 }
    try store.work(30, textLength: 100)
    let segment = store.engine.statistics().segments[0].segment
    rest(store)
    #expect(store.engine.statistics().compaction.count == 0)
    #expect(store.engine.statistics().segments.map(\.segment) == [segment])
  }

  @Test(arguments: [HistoryRetention.everything, HistoryRetention(age: .seconds(3600))])
  func `keeps its history`(history: HistoryRetention) throws {
    let store = try makeStore { $0.history = history }
    try store.work(30, textLength: 100)
    rest(store)
    #expect(store.engine.statistics().compaction.count == 0)
    #expect(store.engine.statistics().segments.count == 1)
  }

  @Test func `keeps what a view sees, and is packed when the next commit has come to rest`() throws
  {
    let store = try makeStore()
    try store.work(20, textLength: 100)
    var view: ReadView? = store.engine.makeReadView()
    let expected = store.rows
    try store.work(10, textLength: 100)
    rest(store)
    #expect(store.engine.statistics().compaction.count == 0)
    if let view { #expect(try MemoryStore.rows(of: view) == expected) }
    view = nil
    try store.work(1)
    rest(store)
    #expect(store.engine.statistics().compaction.count == 1)
  }

  @Test func `is left alone if nobody asked for it`() throws {
    for configure in [
      { @Sendable (options: inout EngineOptions) in options.idleDelay = nil },
      { @Sendable (options: inout EngineOptions) in options.compaction = .onDemand },
    ] {
      let store = try makeStore(configure)
      try store.work(30, textLength: 100)
      rest(store)
      #expect(store.engine.statistics().segments[0].usage.recordByteCount > 0)
    }
  }
}

import LogEngine
import LogEngineTestSupport
import Testing

@Suite struct `An event of compaction` {
  let recorder = EventRecorder()

  private func makeStore(
    _ compaction: EngineOptions.CompactionMode = .onDemand
  ) throws -> MemoryStore {
    let store = try MemoryStore(recorder: recorder) { $0.compaction = compaction }
    return store
  }

  private var compactionEvents: [EngineEvent] {
    recorder.take().filter { $0.name.hasPrefix("compaction") }
  }

  @Test func `tells what is taken, and what came of it`() throws {
    let store = try makeStore()
    try store.work(150, textLength: 300)
    let files = store.engine.statistics().segments
    let report = try #require(try store.engine.compact().report)
    let events = compactionEvents
    guard case .compactionStarted(let start)? = events.first else {
      Issue.record("no start in \(events)")
      return
    }
    #expect(start.trigger == .demand)
    #expect(start.segmentCount == files.count)
    #expect(start.packCount == 0)
    #expect(start.byteCount == files.reduce(0) { $0 + $1.fileByteCount })
    #expect(events.dropFirst() == [.compactionEnded(.compacted(report))])
    #expect(report.readByteCount == start.byteCount)
    #expect(report.duration > .zero)
    #expect(report.workedByteCount > 0)
    #expect(report.bytesPerSecond > 0)
    #expect(try store.engine.compact() == .nothingToDo)
    #expect(compactionEvents == [])
  }

  @Test func `tells of those of the background`() throws {
    let store = try makeStore(.automatic)
    try store.work(150, textLength: 300)
    for _ in 0..<1000 where store.engine.statistics().compaction.count == 0 {
      store.engine.performBackgroundWork()
    }
    let last = try #require(store.engine.statistics().compaction.last)
    let events = compactionEvents
    guard case .compactionStarted(let start)? = events.first else {
      Issue.record("no start in \(events)")
      return
    }
    #expect(start.trigger == .background)
    #expect(events.dropFirst() == [.compactionEnded(.compacted(last))])
  }

  @Test func `tells that one was stopped`() throws {
    let store = try makeStore()
    try store.work(150, textLength: 300)
    #expect(try store.engine.compact { _ in .stop } == .stopped)
    #expect(compactionEvents.last == .compactionEnded(.stopped))
  }

  @Test func `tells that one was given up as the store was closed`() throws {
    let store = try makeStore(.automatic)
    try store.work(150, textLength: 300)
    for _ in 0..<4 where !store.engine.statistics().compaction.isRunning {
      store.engine.performBackgroundWork()
    }
    let progress = store.engine.statistics().compaction.progress
    #expect(progress.keyCount > 0)
    try store.close()
    #expect(recorder.names.suffix(3) == ["compaction ended", "checkpoint written", "store closed"])
    let events = compactionEvents
    #expect(events.count == 2)
    #expect(events.last == .compactionEnded(.stopped))
  }

  @Test func `tells that one failed`() throws {
    let store = try SimulatedStore(onEvent: recorder.handler)
    for _ in 0..<20 { try store.insert(20) }
    _ = recorder.take()
    // The next is that of the segment that takes the place of the one to be packed.
    let number = store.fileSystem.callCount(of: .rename) + 2
    store.fileSystem.setFaults(FaultPlan([Fault(.rename, number: number)]))
    let error = try #require(#expect(throws: StorageError.self) { try store.engine.compact() })
    let events = compactionEvents
    #expect(events.map(\.name) == ["compaction started", "compaction failed"])
    #expect(events.last == .compactionFailed(error))
  }
}

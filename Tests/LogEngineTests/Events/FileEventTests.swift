import LogEngine
import LogEngineTestSupport
import RowFormat
import Testing

@Suite struct `An event of files` {
  let recorder = EventRecorder()

  @Test func `tells of each segment that was filled, and not on the thread of a commit`() throws {
    let store = try MemoryStore(recorder: recorder)
    for _ in 0..<40 {
      try store.work(3, textLength: 1000)
      let before = recorder.events.count
      try store.work(1, textLength: 1000)
      #expect(recorder.events.count == before)
      store.engine.performBackgroundWork()
    }
    let statistics = store.engine.statistics()
    let reports = recorder.segments
    #expect(reports.count > 3)
    #expect(reports.map(\.segment) == statistics.segments.dropLast().map(\.segment))
    #expect(reports.map(\.byteCount) == statistics.segments.dropLast().map(\.writtenByteCount))
    #expect(reports.map(\.next) == statistics.segments.dropFirst().map(\.segment))
    #expect(reports.allSatisfy { 16 << 10...32 << 10 ~= $0.nextByteCount })
    let ends = statistics.segments.dropFirst().map { $0.firstCommit.rawValue - 1 }
    #expect(reports.map(\.lastCommit.rawValue) == ends)
    #expect(reports.allSatisfy { $0.duration >= .zero })
  }

  @Test func `tells of a checkpoint once it is there`() throws {
    let store = try SimulatedStore(onEvent: recorder.handler)
    try store.insert(20)
    _ = recorder.take()
    try store.engine.checkpoint()
    // There is one already.
    try store.engine.checkpoint()
    let path = try #require(store.checkpoints.last)
    #expect(recorder.names == ["checkpoint written"])
    guard case .checkpointWritten(let report)? = recorder.events.first else { return }
    #expect(report.number == 1)
    #expect(report.byteCount == store.disk.bytes(of: path).count)
    #expect(report.lastCommit == store.engine.lastCommit)
  }

  @Test func `tells of a checkpoint that could not be written`() throws {
    let store = try SimulatedStore(onEvent: recorder.handler)
    try store.insert(20)
    _ = recorder.take()
    let next = store.fileSystem.callCount(of: .rename) + 1
    store.fileSystem.setFaults(FaultPlan([Fault(.rename, number: next)]))
    let error = try #require(
      #expect(throws: StorageError.self) { try store.engine.checkpoint() }
    )
    #expect(recorder.events == [.checkpointFailed(error)])
    try store.insert(1)
  }

  @Test func `tells of what a sweep of side files removed`() throws {
    let disk = InMemoryFileSystem()
    do {
      let store = try PhotoStore(on: disk)
      let photo = PhotoRow(title: "Lisbon", photo: Photo(seed: 1, byteCount: 500))
      try store.insert(photo)
      try disk.write([1], to: "/store/blobs/00/0000000000000009.blob")
    }
    let engine = try StorageEngine.open(
      at: "/store",
      options: PhotoStore.options,
      fileSystem: disk,
      onEvent: recorder.handler
    )
    for _ in 0..<1000 where engine.isSweepingBlobs { engine.performBackgroundWork() }
    #expect(recorder.names == ["store opened", "blobs swept"])
    guard case .blobsSwept(let report)? = recorder.events.last else { return }
    #expect(report.removedFileCount == 1)
    #expect(report.failure == nil)
    #expect(report.duration > .zero)
  }
}

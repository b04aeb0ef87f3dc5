import LogEngine
import Testing

@Suite struct `The events of a store` {
  let recorder = EventRecorder()

  @Test func `begin with its opening and end with its close`() throws {
    let store = try MemoryStore(recorder: recorder)
    try store.work(3)
    let engine = store.engine
    try store.close()
    try engine.close()
    #expect(recorder.names == ["store opened", "checkpoint written", "store closed"])
    #expect(recorder.events.first == .opened(engine.recovery))
    #expect(engine.recovery.wasClosedCleanly)
  }

  @Test
  func `say of an opening after a crash what was replayed, what was torn, and how long it took`()
    throws
  {
    let store = try MemoryStore(recorder: recorder)
    try store.work(3)
    store.abandon()
    let path = try #require(store.segments.last)
    var bytes = try store.bytes(of: path)
    let end = try #require(bytes.lastIndex { $0 != 0 })
    bytes[end + 17] = 7
    try store.write(bytes, to: path)
    _ = recorder.take()
    try store.open()
    guard case .opened(let report)? = recorder.events.first else {
      Issue.record("no opening in \(recorder.events)")
      return
    }
    #expect(!report.wasClosedCleanly)
    #expect(report.scannedCommitCount == 4)
    #expect(report.scannedByteCount > 0)
    #expect(report.lastCommit == CommitSequence(4))
    #expect(report.tornByteCount > 0)
    #expect(report.duration > .zero)
    let said = try #require("\(recorder.events[0])".split(separator: " ").dropFirst(2).first)
    #expect(said.wholeMatch(of: /duration_seconds=\d+\.\d{6}/) != nil)
    #expect("\(recorder.events[0])".contains(" torn_bytes=\(report.tornByteCount)"))
  }

  @Test func `say of a damaged store that is opened for reading where it ends`() throws {
    let store = try MemoryStore()
    try store.work(3)
    try store.close()
    let path = try #require(store.segments.last)
    var bytes = try store.bytes(of: path)
    bytes[4096 + 60] ^= 1
    try store.write(bytes, to: path)
    let reader = try store.openReader(.readOnlyUpToDamage, onEvent: recorder.handler)
    #expect(recorder.events == [.opened(reader.recovery)])
    #expect(reader.recovery.damage != nil)
    try reader.close()
    #expect(recorder.names == ["store opened", "store closed"])
  }

  @Test func `have one of a follower that cannot go on, however often it tries`() throws {
    let store = try MemoryStore()
    try store.work(10)
    let follower = try store.openReader(onEvent: recorder.handler)
    for _ in 0..<2 {
      try store.work(100, textLength: 1000)
      try store.engine.compact()
    }
    var thrown: StorageError?
    for _ in 0..<3 {
      thrown = #expect(throws: StorageError.self) { try follower.refresh() }
    }
    #expect(recorder.events.dropFirst() == [.leftBehind(try #require(thrown))])
  }
}

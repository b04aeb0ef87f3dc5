import Locking
import LogEngineTestSupport
import RowFormat
import Testing

@testable import LogEngine
@testable import LogFormat

@Suite struct `A store on a full device` {
  /// How much of the last commit's bytes the disk keeps: nothing, a part of its first sector, most, all but
  /// the last.
  @Test(arguments: [0, 100, 2000, 5000])
  func `is opened although its last commit was torn`(keptByteCount: Int) throws {
    let before = try SimulatedStore()
    try before.insert(20)
    let rows = try before.rows()
    let segment = try #require(before.segments.first)
    let end = try #require(before.engine.statistics().segments.first?.writtenByteCount)
    try before.insert(60)
    // The power fails in the middle of the second commit.
    let fileSystem = SimulatedFileSystem(seed: 3, disk: before.disk)
    let file = try fileSystem.open(segment, .write)
    let tail = try file.readBytes(20_000, at: end + keptByteCount)
    _ = try file.write([UInt8](repeating: 0, count: tail.count).span.bytes, at: end + keptByteCount)
    fileSystem.setFaults(Self.fullDevice)

    let store = try SimulatedStore(fileSystem)
    #expect(try store.rows() == rows)
    // Counted up to the last byte that is not zero.
    #expect(
      (max(0, keptByteCount - 16)...keptByteCount).contains(store.engine.recovery.tornByteCount)
    )
    #expect(store.disk.paths.filter { $0.hasPrefix("/store/tmp/") } == [])
    #expect(throws: StorageError.self) { try store.insert(1) }
    fileSystem.setFaults(FaultPlan())
    try store.insert(1)
    #expect(try store.rows().count == 21)
  }

  @Test func `is opened although the file of the lock is new`() throws {
    let before = try SimulatedStore()
    try before.insert(20)
    try before.engine.close()
    let fileSystem = SimulatedFileSystem(seed: 3, disk: before.disk)
    try fileSystem.unlink("/store/LOCK")
    fileSystem.setFaults(Self.fullDevice)
    #expect(try SimulatedStore(fileSystem).rows() == before.rows())
  }

  /// Deletes the first rows until the store has taken more of the device.
  ///
  /// - Returns: The key of the last one.
  private func deleteUntilGrowth(of store: SimulatedStore) throws -> UInt64 {
    let size = store.disk.byteCount
    var key: UInt64 = 0
    while store.disk.byteCount == size {
      key += 1
      try store.delete(key)
    }
    return key
  }

  /// Deletions make no room by themselves, and are what a compaction makes room of: what is left is for them.
  @Test(arguments: [64 << 10, 1 << 20])
  func `goes on with deletions in a segment of what they need`(segment: Int) throws {
    let store = try SimulatedStore(segment: segment)
    try store.insert(2 * segment / 128)
    store.leave(9 << 10)
    let size = store.disk.byteCount
    #expect(throws: StorageError.self) { while true { try store.insert(1) } }
    #expect(store.disk.byteCount == size)
    var key = try deleteUntilGrowth(of: store)
    #expect(store.disk.byteCount - size == 8 << 10)
    #expect(try SimulatedStore(on: store.disk).rows() == store.rows())
    #expect(throws: StorageError.self) {
      while true {
        key += 1
        try store.delete(key)
      }
    }
    store.fileSystem.setFaults(FaultPlan())
    try store.insert(100)
    #expect(try SimulatedStore(on: store.disk).rows() == store.rows())
  }

  @Test func `has the file of a small log grow by what deletions need`() throws {
    let store = try SimulatedStore(segment: 256 << 10)
    try store.insert(90)
    store.leave(5 << 10)
    let size = store.disk.byteCount
    #expect(throws: StorageError.self) { while true { try store.insert(1) } }
    #expect(store.disk.byteCount == size)
    _ = try deleteUntilGrowth(of: store)
    #expect(store.disk.byteCount - size == 4 << 10)
    store.fileSystem.setFaults(FaultPlan())
    // And goes on as ever once there is room.
    while store.disk.byteCount == size + 4 << 10 { try store.insert(1) }
    #expect(store.segments.map { store.disk.image(of: $0)?.size } == [32 << 10])
    #expect(try SimulatedStore(on: store.disk).rows() == store.rows())
  }

  /// What is left of the last segment is room for the manifest.
  @Test func `is closed cleanly, and opened`() throws {
    let store = try SimulatedStore()
    try store.insert(10)
    store.leave(0)
    try store.insert(20)
    try store.engine.close()
    let next = try SimulatedStore(store.fileSystem)
    #expect(next.engine.recovery.wasClosedCleanly)
    #expect(try next.rows().count == 30)
    next.leave(12 << 10)
    try next.delete(1)
    try next.engine.close()
    let last = try SimulatedStore(store.fileSystem)
    #expect(last.engine.recovery.wasClosedCleanly)
    #expect(try last.rows().count == 29)
  }

  /// The segment was cut when it was closed the last time, and has less left than the mark takes; a compaction of what is
  /// before it has published a manifest since.
  @Test func `is closed though there is no room for the mark of its end, and opened`() throws {
    let before = try SimulatedStore()
    for _ in 0..<6 { try before.insert(60) }
    try before.engine.close()
    for length in stride(from: 0, through: 4096, by: 8) {
      let cut = try SimulatedStore(on: before.disk)
      try cut.insert(1, text: String(repeating: "x", count: length))
      try cut.engine.close()
      let store = try SimulatedStore(cut.fileSystem)
      let (end, segment) = store.engine.state.log.tail.withLock { ($0.end, $0.segment) }
      let last = try #require(segment)
      guard end + FrameHeader.byteCount > last.capacity else { continue }
      let report = try store.engine.compact(keeping: HistoryRetention(byteCount: 16 << 10)).report
      try #require(try #require(report).segmentCount > 0)
      try #require(store.engine.state.log.tail.withLock { $0.segment?.id } == last.id)
      let rows = try store.rows()
      store.leave(0)
      try store.engine.close()
      let next = try SimulatedStore(store.fileSystem)
      #expect(try next.rows() == rows)
      #expect(!next.engine.recovery.wasClosedCleanly)
      return
    }
    Issue.record("the log never ended so near to the end of a page")
  }

  /// The first of them made a file for the second; others count the third one's empty file as one that needs everything.
  @Test func `is joined by other processes, which read and write it`() throws {
    let simulated = SimulatedFileSystem(seed: 4)
    let locks = LockBoard()
    var options = MemoryStore.options()
    options.writers = .severalProcesses
    func join() throws -> StorageEngine {
      try StorageEngine.open(
        at: SimulatedStore.path,
        options: options,
        fileSystem: MortalFileSystem(simulated, locks)
      )
    }
    func insert(_ engine: StorageEngine) throws {
      try engine.inTurn {
        var batch = engine.makeBatch()
        let key = try engine.takeKeys(1, in: 1).lowerBound
        batch.insert(
          RowReference(table: 1, key: key),
          layout: LayoutNumber(1),
          row: MemoryStore.row(1, "x").span.bytes
        )
        try engine.commit(&batch)
      }
    }
    var engines = [try join()]
    try engines[0].apply(MemoryStore.tableChanges)
    var plan = FaultPlan()
    plan.capacity = simulated.disk.byteCount
    simulated.setFaults(plan)
    for _ in 0..<3 { engines.append(try join()) }
    for round in 1...3 {
      for engine in engines { try insert(engine) }
      for engine in engines {
        try engine.refresh()
        #expect(try MemoryStore.rows(of: engine).count == 4 * round)
      }
    }
    // The last one needs all there is, so far as others know.
    #expect((try? engines[0].compact())?.report == nil)
    simulated.setFaults(FaultPlan())
    for engine in engines { engine.performBackgroundWork() }
    engines[2].writer?.settleWithOthers()
    engines[3].writer?.settleWithOthers()
    #expect(try engines[0].compact().report != nil)
    for engine in engines { try engine.close() }
    options.writers = .oneProcess
    let last = try join()
    #expect(last.recovery.wasClosedCleanly)
    #expect(try MemoryStore.rows(of: last).count == 12)
    try last.close()
  }

  /// Without room even for a manifest, what was committed is there, and the next opening recovers it.
  @Test func `is closed although nothing can be written down`() throws {
    let store = try SimulatedStore()
    try store.insert(10)
    let rows = try store.rows()
    let plan = FaultPlan([
      Fault(.write, number: 1, .forEver, .noSpace, path: "/store/tmp/manifest")
    ])
    store.fileSystem.setFaults(plan)
    try store.engine.close()
    let next = try SimulatedStore(store.fileSystem)
    #expect(!next.engine.recovery.wasClosedCleanly)
    #expect(try next.rows() == rows)
  }

  /// A segment that was cut off needs room for the frame that ends it, and its successor for a header.
  @Test func `refuses what there is no room for before anything is written`() throws {
    let disk = try #require(
      (0..<600).lazy.compactMap { try? Self.diskWithoutRoomForMark(textLength: 8 * $0) }.first
    )
    for free in stride(from: 0, through: 16 << 10, by: 4 << 10) {
      let store = try SimulatedStore(SimulatedFileSystem(seed: 3, disk: disk))
      store.leave(free)
      _ = try? store.engine.compact()
      store.fileSystem.setFaults(FaultPlan())
      try store.insert(1)
      #expect(try SimulatedStore(on: store.disk).rows().count == 2)
    }
  }

  /// A store that was closed where its last page has no room for one more frame.
  private static func diskWithoutRoomForMark(textLength: Int) throws -> Disk? {
    let store = try SimulatedStore()
    try store.insert(1, text: String(repeating: "t", count: textLength))
    try store.engine.close()
    let segment = try #require(store.segments.first)
    let bytes = store.disk.bytes(of: segment)
    let free = bytes.count - bytes.span.bytes.endOfNonzeroBytes(from: 0)
    return free < FrameHeader.byteCount ? store.disk : nil
  }

  private static var fullDevice: FaultPlan {
    var plan = FaultPlan()
    plan.isFull = true
    return plan
  }
}

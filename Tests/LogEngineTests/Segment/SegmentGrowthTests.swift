import LogEngineTestSupport
import Synchronization
import Testing

@testable import LogEngine
@testable import LogFormat

@Suite struct `A segment that is full` {
  private func makeStore(_ durability: EngineOptions.Durability) throws -> SimulatedStore {
    let store = try SimulatedStore(durability: durability)
    try store.insert(1)
    return store
  }

  /// How large a segment is made when a commit waits for it.
  private static let capacity = 64 << 10

  /// Writes more than fits into a segment.
  private func fill(_ store: SimulatedStore) throws {
    for _ in 0..<11 { try store.insert(60) }
  }

  private let relaxed = EngineOptions.Durability.relaxed(interval: .seconds(1))

  @Test func `goes on where its successor is not ready and nobody waits for the disk`() throws {
    let store = try makeStore(relaxed)
    try fill(store)
    let segments = store.engine.statistics().segments
    #expect(segments.count == 1 && segments[0].fileByteCount > Self.capacity)
    let rows = try store.rows()
    store.engine.performBackgroundWork()
    #expect(store.engine.statistics().segments.count == 2)
    #expect(try store.rows() == rows)
    #expect(try SimulatedStore(on: store.disk).rows() == rows)
  }

  @Test func `does not grow without bound`() throws {
    let store = try makeStore(relaxed)
    for _ in 0..<4 { try fill(store) }
    let segments = store.engine.statistics().segments
    #expect(segments.count > 1)
    #expect(segments.allSatisfy { $0.fileByteCount <= 4 * Self.capacity })
    #expect(try SimulatedStore(on: store.disk).rows() == store.rows())
  }

  @Test func `gives way to the next one where commits wait for the disk`() throws {
    let store = try makeStore(.full)
    try fill(store)
    let segments = store.engine.statistics().segments
    #expect(segments.count > 1 && segments.allSatisfy { $0.fileByteCount <= Self.capacity })
  }

  @Test func `goes on to the one that is ready if the device is full`() throws {
    let store = try makeStore(relaxed)
    for _ in 0..<6 { try store.insert(60) }
    store.engine.performBackgroundWork()
    #expect(store.segments.count == 2)
    var plan = FaultPlan()
    plan.isFull = true
    store.fileSystem.setFaults(plan)
    for _ in 0..<3 { try store.insert(60) }
    #expect(store.engine.statistics().segments.count == 2)
    #expect(throws: StorageError.self) { try fill(store) }
    store.fileSystem.setFaults(FaultPlan())
    let rows = try store.rows()
    try store.insert(60)
    #expect(try store.rows().count == rows.count + 60)
  }

  /// A block that is only reserved makes the file system commit its journal once it is synchronized.
  @Test func `has a successor whose first block is written before commits come to wait for it`()
    throws
  {
    let writes = Mutex<[String]>([])
    let disk = SimulatedFileSystem(seed: 1)
    let hooked = HookedFileSystem(disk) { call in
      if call.operation == .write { writes.withLock { $0.append(call.path) } }
    }
    let store = try SimulatedStore(disk, hooked: hooked, durability: relaxed)
    for _ in 0..<7 { try store.insert(60) }
    writes.withLock { $0 = [] }
    store.engine.performBackgroundWork()
    #expect(writes.withLock { $0 }.filter { $0 == "/store/tmp/segment" }.count == 1)
  }

  /// A power cut takes what was not synchronized, the length of the file with it.
  @Test(arguments: 1...12 as ClosedRange<UInt64>)
  func `is found whole, as far as it was synchronized`(seed: UInt64) throws {
    let store = try SimulatedStore(SimulatedFileSystem(seed: seed), durability: relaxed)
    try store.insert(100)
    try store.engine.synchronize()
    let synchronized = try store.rows()
    try fill(store)
    #expect(store.engine.statistics().segments.count == 1)
    try store.disk.forEachCrashState(random: SeededGenerator(seed: seed), limits: .few) { state in
      let rows = try SimulatedStore(on: state.disk).rows()
      #expect(rows.count >= synchronized.count && (rows.count - synchronized.count) % 60 == 0)
    }
  }
}

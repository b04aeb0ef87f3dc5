import LogEngineTestSupport
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

  private static var fullDevice: FaultPlan {
    var plan = FaultPlan()
    plan.isFull = true
    return plan
  }
}

import Locking
import LogEngineTestSupport
import Synchronization
import Testing

@testable import LogEngine
@testable import LogFormat

@Suite struct `Opening a store with a checkpoint` {
  /// A store with two checkpoints in several segments, and commits after the second.
  private func makeStore() throws -> SimulatedStore {
    let store = try SimulatedStore()
    for round in 1...30 as ClosedRange<Int64> {
      try store.insert(70)
      try store.update(UInt64(round), number: -round)
      if round == 10 || round == 20 { try store.engine.checkpoint() }
    }
    #expect(store.segments.count > 3)
    #expect(store.checkpoints.count == 2)
    return store
  }

  @Test func `reads only what was committed since`() throws {
    let store = try makeStore()
    let again = try SimulatedStore(on: store.disk)
    #expect(again.engine.recovery.checkpoint == 2)
    #expect(again.engine.recovery.scannedCommitCount == 20)
    #expect(again.engine.recovery.lastCommit == CommitSequence(61))
    #expect(try again.rows() == store.rows())
    #expect(again.engine.reserveKeys(1, in: 1).lowerBound == 2101)
    #expect(again.usages == store.usages)
  }

  @Test func `reads nothing after a clean close`() throws {
    let store = try makeStore()
    let rows = try store.rows()
    try store.engine.close()
    let again = try SimulatedStore(on: store.disk)
    #expect(again.engine.recovery.wasClosedCleanly)
    #expect(again.engine.recovery.scannedByteCount == 0)
    #expect(try again.rows() == rows)
  }

  @Test func `and closing it again writes nothing`() throws {
    let store = try makeStore()
    try store.engine.close()
    let again = try SimulatedStore(on: store.disk)
    try again.engine.close()
    #expect(again.disk.hash == store.disk.hash)
  }

  @Test func `synchronizes nothing after a clean close`() throws {
    let store = try makeStore()
    try store.engine.close()
    let fileSystem = SimulatedFileSystem(seed: 2, disk: store.disk)
    let again = try SimulatedStore(fileSystem)
    #expect(again.engine.recovery.wasClosedCleanly)
    #expect(fileSystem.callCount(of: .synchronize) == 0)
    #expect(fileSystem.callCount(of: .synchronizeDirectory) == 0)
  }

  @Test func `goes on in the same log`() throws {
    let store = try makeStore()
    try store.engine.close()
    var disk = store.disk
    var expected = try store.rows()
    for round in 1...4 as ClosedRange<Int64> {
      let again = try SimulatedStore(on: disk)
      #expect(try again.rows() == expected)
      try again.update(5, number: 100 * round)
      try again.insert(1)
      expected = try again.rows()
      if round % 2 == 0 { try again.engine.close() }
      disk = again.disk
    }
  }

  @Test func `that is damaged takes the one before`() throws {
    let store = try makeStore()
    let path = try #require(store.checkpoints.last)
    let size = store.disk.bytes(of: path).count
    for offset in [0, 48, 80, 4095, 4096, 6000, size - 1] {
      let again = try SimulatedStore(on: store.disk.damaged(path, .flip(bit: offset * 8)))
      #expect(again.engine.recovery.checkpoint == 1, "byte \(offset)")
      #expect(again.engine.recovery.ignoredCheckpointCount == 1, "byte \(offset)")
      #expect(try again.rows() == store.rows())
    }
  }

  @Test func `that was cut off takes the one before, or none`() throws {
    let store = try makeStore()
    var disk = store.disk
    for (count, path) in store.checkpoints.reversed().enumerated() {
      disk = disk.damaged(path, .resize(5000))
      let again = try SimulatedStore(on: disk)
      #expect(again.engine.recovery.checkpoint == (count == 0 ? 1 : nil))
      #expect(again.engine.recovery.ignoredCheckpointCount == count + 1)
      #expect(try again.rows() == store.rows())
      // What cannot be used is removed along with what is not needed any more.
      try again.engine.close()
      let closed = try SimulatedStore(on: again.disk)
      #expect(closed.engine.recovery.ignoredCheckpointCount == 0)
      #expect(closed.engine.recovery.scannedByteCount == 0)
    }
  }

  @Test func `of another store takes none`() throws {
    let store = try makeStore()
    let other = try SimulatedStore(SimulatedFileSystem(seed: 77))
    for _ in 1...40 { try other.insert(20, text: "other") }
    try other.engine.checkpoint()
    var disk = store.disk
    for path in store.checkpoints { disk = disk.damaged(path, .remove) }
    let bytes = other.disk.bytes(of: try #require(other.checkpoints.last))
    let fileSystem = SimulatedFileSystem(seed: 3, disk: disk)
    let file = try fileSystem.open("/store/index/0000000000000001.ckpt", .create)
    try bytes.withUnsafeBytes { try file.writeAll($0.bytes, at: 0) }
    let again = try SimulatedStore(fileSystem)
    #expect(again.engine.recovery.checkpoint == nil)
    #expect(again.engine.recovery.ignoredCheckpointCount == 1)
    #expect(try again.rows() == store.rows())
  }

  /// Also if the segment stays that the checkpoint itself is in.
  @Test(arguments: [HistoryRetention.nothing, HistoryRetention(byteCount: 20_000)])
  func `of segments that were packed since takes none`(history: HistoryRetention) throws {
    let store = try makeStore()
    try store.engine.checkpoint()
    let path = try #require(store.checkpoints.last)
    let bytes = store.disk.bytes(of: path)
    let former = store.segments
    try store.engine.compact(keeping: history)
    try store.insert(3)
    #expect(!store.segments.contains(former[0]))
    #expect(store.segments.contains(former.last ?? "") == (history != .nothing))
    var disk = store.disk
    for path in store.checkpoints { disk = disk.damaged(path, .remove) }
    let fileSystem = SimulatedFileSystem(seed: 4, disk: disk)
    let file = try fileSystem.open(path, .create)
    try bytes.withUnsafeBytes { try file.writeAll($0.bytes, at: 0) }
    let again = try SimulatedStore(fileSystem)
    #expect(again.engine.recovery.checkpoint == nil)
    #expect(again.engine.recovery.ignoredCheckpointCount == 1)
    #expect(try again.rows() == store.rows())
  }

  @Test func `whose log is shorter than it once was is an error`() throws {
    let store = try makeStore()
    try store.engine.checkpoint()
    let path = try #require(store.segments.last)
    let size = store.disk.bytes(of: path).count
    let frame = store.engine.state.log.tail.withLock { $0.frame }
    for start in [frame, frame + 30, 5000] {
      let disk = store.disk.damaged(path, .zero(start..<size))
      #expect {
        try SimulatedStore(on: disk)
      } throws: { error in
        guard case .corruption(let corruption) = error as? StorageError,
          case .lostDurableBytes(_, _, .checkpoint) = corruption.problem
        else { return false }
        return corruption.path == path
      }
    }
  }

  @Test func `still misses a segment before it, or the end of one`() throws {
    let store = try makeStore()
    for path in store.segments.dropLast() {
      #expect(throws: StorageError.self) {
        try SimulatedStore(on: store.disk.damaged(path, .remove))
      }
      #expect(throws: StorageError.self) {
        try SimulatedStore(on: store.disk.damaged(path, .resize(5000)))
      }
      #expect(throws: StorageError.self) {
        try SimulatedStore(on: store.disk.damaged(path, .flip(bit: 800)))
      }
    }
  }

  @Test func `gives no key out that a row brought along`() throws {
    let store = try SimulatedStore()
    try store.insert(1, at: 900)
    #expect(store.engine.nextKey(in: 1) == 901)
    try store.delete(900)
    try store.engine.close()
    let again = try SimulatedStore(on: store.disk)
    #expect(again.engine.recovery.scannedCommitCount == 0)
    #expect(again.engine.reserveKeys(1, in: 1).lowerBound == 901)
  }

  @Test func `works for a follower, too`() throws {
    let store = try makeStore()
    let follower = try SimulatedStore(on: store.disk, mode: .readOnly)
    #expect(follower.engine.recovery.checkpoint == 2)
    #expect(try follower.rows() == store.rows())
  }

  @Test func `keeps a table away that was removed before it`() throws {
    let store = try makeStore()
    try store.engine.apply([.removeTable(1), .addTable(name: "next")])
    try store.engine.checkpoint()
    let again = try SimulatedStore(on: store.disk)
    #expect(again.engine.recovery.scannedCommitCount == 0)
    #expect(again.engine.rowCount(of: 1) == 0)
    #expect(try again.rows().isEmpty)
    #expect(again.engine.catalogue == store.engine.catalogue)
  }
}

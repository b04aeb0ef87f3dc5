import Foundation
import LogEngineTestSupport
import RowFormat
import Synchronization
import Testing

@testable import LogEngine
@testable import LogFormat

/// A process keeps its turn for its next save while no other process has the store open.
@Suite struct `A turn that a process keeps` {
  private let folder = FileManager.default.temporaryDirectory.appending(
    path: "lease-\(UUID().uuidString)"
  )

  /// What takes a turn without a commit.
  enum Use: CaseIterable { case synchronizing, compacting, throwing, writingCheckpoint }

  /// A process that is stopped would keep it from others for ever.
  @Test(arguments: Use.allCases)
  func `ends once the process saves nothing, whatever it was taken for`(use: Use) throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    var options = EngineOptions()
    options.writers = .severalProcesses
    options.durability = .memory
    options.idleDelay = nil
    let engine = try StorageEngine.open(at: folder.path, options: options)
    try engine.apply(MemoryStore.tableChanges)
    var batch = engine.makeBatch()
    batch.insert(
      RowReference(table: 1, key: try engine.takeKeys(1, in: 1).lowerBound),
      layout: LayoutNumber(1),
      row: MemoryStore.row(1, "x").span.bytes
    )
    try engine.commit(&batch)
    let housekeeper = try #require(engine.writer?.housekeeper)
    try Self.wait { housekeeper.delay == nil }
    switch use {
    case .synchronizing: try engine.synchronize()
    case .compacting: try engine.compact()
    case .throwing:
      #expect(throws: CancellationError.self) { try engine.inTurn { throw CancellationError() } }
    case .writingCheckpoint: try engine.checkpoint()
    }
    let lock = try PosixFileSystem().openLockable(folder.path + "/TURN")
    try Self.wait { try lock.take(.exclusive, waits: false) }
    lock.release()
    try Self.wait { housekeeper.delay == nil }
    try engine.close()
  }

  /// The background has the turn as long as a checkpoint takes.
  @Test func `takes in all threads of the process, however long it has lasted`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    var options = EngineOptions()
    options.writers = .severalProcesses
    options.durability = .memory
    // Instead of waiting without end.
    options.turnTimeout = .seconds(1)
    let engine = try StorageEngine.open(at: folder.path, options: options)
    try engine.apply(MemoryStore.tableChanges)
    let turns = try #require(engine.writer?.turns)
    let start = Monitor.now()
    try engine.beginTurn()
    // It looks now and then whether it is.
    while !turns.isAlone {
      try engine.endTurn()
      try engine.beginTurn()
    }
    while Monitor.now() - start < 2 * Turns.burst { Thread.yield() }
    let hasEnded = DispatchSemaphore(value: 0)
    let failure = Mutex<(any Error)?>(nil)
    Thread.detachNewThread {
      do { try engine.inTurn {} } catch { failure.withLock { $0 = error } }
      hasEnded.signal()
    }
    hasEnded.wait()
    #expect(failure.withLock { $0 } == nil)
    try engine.endTurn()
    try engine.close()
  }

  private static func wait(until condition: () throws -> Bool) throws {
    let deadline = ContinuousClock.now + .seconds(120)
    while try !condition() {
      try #require(ContinuousClock.now < deadline)
      Thread.yield()
    }
  }
}

import LogEngineTestSupport
import RowFormat
import Testing

@testable import LogEngine
@testable import LogFormat

/// One of several processes compacts at a time; it may take minutes, and it may be stopped.
@Suite struct `A compaction that waits for that of another process` {
  private let engine: StorageEngine
  /// The lock that the other process has.
  private let lock: any LockableFile

  init() throws {
    let (disk, locks) = (InMemoryFileSystem(), LockBoard())
    var options = MemoryStore.options()
    options.writers = .severalProcesses
    engine = try StorageEngine.open(
      at: "store",
      options: options,
      fileSystem: MortalFileSystem(disk, locks)
    )
    try engine.apply(MemoryStore.tableChanges)
    var batch = engine.makeBatch()
    batch.insert(
      RowReference(table: 1, key: try engine.takeKeys(1, in: 1).lowerBound),
      layout: LayoutNumber(1),
      row: MemoryStore.row(1, "x").span.bytes
    )
    try engine.commit(&batch)
    lock = try MortalFileSystem(disk, locks).openLockable("store/COMPACTION")
    #expect(try lock.take(.exclusive, waits: false))
  }

  @Test func `ends when its observer says so`() throws {
    var count = 0
    let outcome = try engine.compact { _ in
      count += 1
      return count < 3 ? .proceed : .stop
    }
    #expect(outcome == .stopped)
    #expect(count == 3)
  }

  @Test func `ends when the store is closed`() throws {
    let housekeeper = try #require(engine.writer?.housekeeper)
    let outcome = try engine.compact { _ in
      housekeeper.stop()
      return .proceed
    }
    #expect(outcome == .stopped)
    try engine.close()
  }

  @Test func `goes on when the other has ended`() throws {
    let outcome = try engine.compact { _ in
      lock.release()
      return .proceed
    }
    guard case .compacted = outcome else {
      Issue.record("\(outcome)")
      return
    }
  }
}

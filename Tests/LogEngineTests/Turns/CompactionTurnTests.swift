import Locking
import LogEngineTestSupport
import LogTools
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

@Suite struct `A process that dies while it compacts` {
  /// The others may go on for months; they have looked for such files before, or not.
  @Test(arguments: [false, true])
  func `leaves no files to those that go on`(haveLooked: Bool) throws {
    var deathCount = 0
    for count in 1..<1000 {
      let (disk, locks) = (InMemoryFileSystem(), LockBoard())
      var options = MemoryStore.options()
      options.writers = .severalProcesses
      options.smallestSegment = 16 << 10
      options.largestSegment = 16 << 10
      let systems = (0..<2).map { _ in MortalFileSystem(disk, locks) }
      let engines = try systems.map {
        try StorageEngine.open(at: "store", options: options, fileSystem: $0)
      }
      try engines[0].apply(MemoryStore.tableChanges)
      try engines[1].refresh()
      for _ in 0..<2 {
        try Self.insert(40, engines[0])
        for engine in engines.reversed() {
          try engine.refresh()
          engine.performBackgroundWork()
        }
        if engines[0].state.files.packList.withLock({ $0.isEmpty }) { try engines[0].compact() }
      }
      if haveLooked {
        try engines[1].compact()
        try Self.insert(40, engines[0])
        for engine in engines.reversed() {
          try engine.refresh()
          engine.performBackgroundWork()
        }
      }
      systems[0].live(for: count)
      let outcome = try? engines[0].compact()
      if !systems[0].isDead {
        guard case .compacted = outcome else { throw Missing() }
        break
      }
      deathCount += 1
      let survivor = engines[1]
      try survivor.refresh()
      try Self.insert(1, survivor)
      try survivor.compact()
      #expect(try MemoryStore.rows(of: survivor).count == (haveLooked ? 121 : 81))
      let state = survivor.state
      #expect(
        try PackID.numbers(state.paths, disk) == state.files.packList.withLock { $0.map(\.id) },
        "after \(count) calls"
      )
      #expect(
        try LogFiles.numbers(state.paths, disk) == state.files.segmentList.map(\.id),
        "after \(count) calls"
      )
      try survivor.close()
      #expect(try StorageEngine.verify(at: "store", fileSystem: disk).problems.isEmpty)
    }
    #expect(deathCount > 10)
  }

  private struct Missing: Error {}

  private static func insert(_ count: Int, _ engine: StorageEngine) throws {
    for _ in 0..<count {
      var batch = engine.makeBatch()
      let key = try engine.takeKeys(1, in: 1).lowerBound
      batch.insert(
        RowReference(table: 1, key: key),
        layout: LayoutNumber(1),
        row: MemoryStore.row(Int64(key), String(repeating: "x", count: 800)).span.bytes
      )
      try engine.commit(&batch)
    }
  }
}

@Suite struct `A commit beside the last step of a compaction` {
  /// Until its index slot has been moved, a record names the old place of its row, which leads to a whole row in this process
  /// alone.
  @Test func `builds on a row that other processes still have in the log`() throws {
    let (disk, locks) = (InMemoryFileSystem(), LockBoard())
    var options = MemoryStore.options()
    options.writers = .severalProcesses
    options.smallestSegment = 16 << 10
    options.largestSegment = 16 << 10
    let (own, other) = (
      try StorageEngine.open(
        at: "store",
        options: options,
        fileSystem: MortalFileSystem(disk, locks)
      ),
      try StorageEngine.open(
        at: "store",
        options: options,
        fileSystem: MortalFileSystem(disk, locks)
      )
    )
    try own.apply(MemoryStore.tableChanges)
    let text = String(repeating: "x", count: 800)
    let row = RowReference(table: 1, key: try own.takeKeys(1, in: 1).lowerBound)
    func commit(_ change: (inout CommitBatch) -> Void) throws {
      var batch = own.makeBatch()
      change(&batch)
      try own.commit(&batch)
    }
    func update(_ number: Int64) throws {
      var changed = ColumnSet()
      changed.insert(0)
      let bytes = MemoryStore.row(number, text)
      try commit {
        $0.update(row, layout: LayoutNumber(1), changed: changed, row: bytes.span.bytes)
      }
    }
    func insert(_ key: UInt64) throws {
      let bytes = MemoryStore.row(Int64(key), text)
      let reference = RowReference(table: 1, key: key)
      try commit { $0.insert(reference, layout: LayoutNumber(1), row: bytes.span.bytes) }
    }
    try insert(row.key)
    try update(2)
    for key in try own.takeKeys(300, in: 1) { try insert(key) }
    let writer = try own.requireWriter()
    // The sweeps for blobs read older states, and each process says in the background what it reads.
    for engine in [own, other] {
      while try engine.requireWriter().housekeeper.isSweepingBlobs {
        engine.performBackgroundWork()
      }
      try engine.refresh()
      engine.performBackgroundWork()
    }
    let compactor = try own.makeFoldedCompactor()
    try writer.withCheckpointsPaused {
      let retired = try compactor.publish()
      try update(3)
      try compactor.moveSlots(after: retired.sequence)
      compactor.remove(retired)
    }
    // A thread that reads without a view keeps the packs from being adopted.
    try other.state.files.reading {
      try other.refresh()
      try #require(other.state.files.packList.withLock { $0.isEmpty })
      #expect(try MemoryStore.rows(of: other) == MemoryStore.rows(of: own))
    }
    try other.refresh()
    #expect(try MemoryStore.rows(of: other) == MemoryStore.rows(of: own))
  }
}

import Foundation
import LogEngineTestSupport
import RowFormat
import Synchronization
import Testing

@testable import LogEngine
@testable import LogFormat

/// The turn in which a process joins the members of a store.
@Suite struct `A turn in which a process joins` {
  private let folder = FileManager.default.temporaryDirectory.appending(
    path: "joining-\(UUID().uuidString)"
  )

  private func open(
    _ fileSystem: any FileSystem,
    checkpointEvery byteCount: Int = 1 << 30
  ) throws -> StorageEngine {
    var options = EngineOptions()
    options.writers = .severalProcesses
    options.durability = .memory
    options.blobSweep = .always
    options.checkpointInterval = byteCount
    return try StorageEngine.open(at: folder.path, options: options, fileSystem: fileSystem)
  }

  /// The lock is the file's: the background would get it at once, and would lose it with the opening thread.
  @Test func `has ended before the background takes another`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    do {
      let engine = try open(PosixFileSystem())
      try engine.apply(MemoryStore.tableChanges)
      var batch = engine.makeBatch()
      for key in try engine.takeKeys(100, in: 1) {
        batch.insert(
          RowReference(table: 1, key: key),
          layout: LayoutNumber(1),
          row: MemoryStore.row(Int64(key), "x").span.bytes
        )
      }
      try engine.commit(&batch)
    }
    let fileSystem = WatchedTurns()
    // The background begins at once, for the sweep, and writes a checkpoint in a turn.
    let engine = try open(fileSystem, checkpointEvery: 1)
    try engine.inTurn {}
    let takeCount = fileSystem.takeCount.load(ordering: .relaxed)
    #expect(takeCount > 1)
    let wasTakenTwice = fileSystem.wasTakenTwice.load(ordering: .relaxed)
    #expect(!wasTakenTwice)
    try engine.close()
  }

  /// A member that is alone keeps its turn; asked for it, it could take it again before the other process wakes.
  @Test(.timeLimit(.minutes(5)))
  func `begins beside a process that saves without a pause`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let engine = try open(PosixFileSystem())
    try engine.apply(MemoryStore.tableChanges)
    let isDone = Atomic(false)
    let failure = Mutex<(any Error)?>(nil)
    let saving = DispatchGroup()
    DispatchQueue(label: "saving").async(group: saving) {
      do {
        while !isDone.load(ordering: .acquiring) { try engine.inTurn {} }
      } catch { failure.withLock { $0 = error } }
    }
    for _ in 0..<10 { try open(PosixFileSystem()).close() }
    isDone.store(true, ordering: .releasing)
    saving.wait()
    #expect(failure.withLock { $0 } == nil)
    try engine.close()
  }
}

/// Watches the lock of `TURN`, and gives other threads time when it is released for the first time.
private final class WatchedTurns: ForwardingFileSystem {
  let base: any FileSystem = PosixFileSystem()
  let takeCount = Atomic<Int>(0)
  let wasTakenTwice = Atomic<Bool>(false)
  private let isHeld = Atomic<Bool>(false)

  func openLockable(_ path: String) throws(StorageError) -> any LockableFile {
    let lock = try base.openLockable(path)
    return path.hasSuffix("/TURN") ? Watched(lock, self) : lock
  }

  private final class Watched: LockableFile {
    private let base: any LockableFile
    private let turns: WatchedTurns

    init(_ base: any LockableFile, _ turns: WatchedTurns) {
      self.base = base
      self.turns = turns
    }

    var isNamed: Bool { base.isNamed }

    func take(_ kind: LockKind, waits: Bool) throws(StorageError) -> Bool {
      if turns.isHeld.load(ordering: .relaxed) {
        turns.wasTakenTwice.store(true, ordering: .relaxed)
      }
      turns.takeCount.add(1, ordering: .relaxed)
      guard try base.take(kind, waits: waits) else { return false }
      turns.isHeld.store(true, ordering: .relaxed)
      return true
    }

    func release() {
      for _ in 0..<10_000 where turns.takeCount.load(ordering: .relaxed) == 1 { Thread.yield() }
      turns.isHeld.store(false, ordering: .relaxed)
      base.release()
    }
  }
}

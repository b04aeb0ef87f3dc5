import Foundation
import LogEngineTestSupport
import LogTools
import RowFormat
import Synchronization
import Testing

@testable import LogEngine
@testable import LogFormat

/// On files: the locks of members in memory trap where a thread would have to wait.
@Suite final class `A turn that another process keeps`: Sendable {
  private let folder: URL
  private let holder: StorageEngine

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "turns-\(UUID().uuidString)")
    holder = try Self.open(folder, waiting: nil)
    try holder.apply(MemoryStore.tableChanges)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private static func open(_ folder: URL, waiting timeout: Duration?) throws -> StorageEngine {
    var options = EngineOptions()
    options.durability = .memory
    options.background = .caller
    options.writers = .severalProcesses
    options.turnTimeout = timeout
    return try StorageEngine.open(at: folder.path, options: options)
  }

  private static func commit(_ engine: StorageEngine) throws {
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

  private func expectTimeout<R>(
    _ waited: Duration,
    _ sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> R
  ) {
    let error = #expect(throws: StorageError.self, sourceLocation: sourceLocation) {
      _ = try body()
    }
    guard case .turnTimeout(let path, waited, let holder) = error else {
      Issue.record("\(String(describing: error))", sourceLocation: sourceLocation)
      return
    }
    #expect(path == folder.path)
    // Both are this process, as far as the system knows.
    #expect(holder == PosixFileSystem().holderDescription)
  }

  @Test(arguments: [.zero, .milliseconds(1), .milliseconds(30)] as [Duration])
  func `makes a commit throw that waits for no longer, and lets it through later`(
    timeout: Duration
  ) throws {
    let other = try Self.open(folder, waiting: timeout)
    try holder.beginTurn()
    for _ in 0..<3 { expectTimeout(timeout) { try Self.commit(other) } }
    #expect(other.rowCount(of: 1) == 0)
    try holder.endTurn()
    // The thread that waited on keeps nobody from it.
    for _ in 0..<20 { try Self.commit(holder) }
    other.commitWhenPossible(Self.commit)
    try other.refresh()
    #expect(other.rowCount(of: 1) == 21)
    try other.close()
    try holder.close()
  }

  @Test func `makes each thread throw that waits for no longer`() throws {
    let other = try Self.open(folder, waiting: .milliseconds(10))
    try holder.beginTurn()
    // Not by tasks: a turn ends on the thread on which it began.
    DispatchQueue.concurrentPerform(iterations: 6) { _ in
      expectTimeout(.milliseconds(10)) { try Self.commit(other) }
    }
    try holder.endTurn()
    other.commitWhenPossible(Self.commit)
    try other.close()
    try holder.close()
  }

  @Test func `refuses one that joins, and lets one leave`() throws {
    let timeout = Duration.milliseconds(5)
    let other = try Self.open(folder, waiting: timeout)
    try Self.commit(other)
    try holder.beginTurn()
    expectTimeout(timeout) { try Self.open(folder, waiting: timeout) }
    try other.close()
    try holder.endTurn()
    try Self.commit(holder)
    #expect(holder.rowCount(of: 1) == 2)
    try holder.close()
    #expect(try StorageEngine.verify(at: folder.path).isSound)
  }

  @Test func `lets one leave that sees its commits to the disk first`() throws {
    let synchronized = Mutex<[String]>([])
    let fileSystem = HookedFileSystem(PosixFileSystem()) { call in
      if call.operation == .synchronize { synchronized.withLock { $0.append(call.path) } }
    }
    var options = EngineOptions()
    options.durability = .relaxed(interval: .seconds(3600))
    options.background = .caller
    options.writers = .severalProcesses
    options.turnTimeout = .milliseconds(5)
    let other = try StorageEngine.open(
      at: folder.path,
      options: options,
      fileSystem: fileSystem
    )
    try Self.commit(other)
    try holder.beginTurn()
    synchronized.withLock { $0 = [] }
    try other.close()
    #expect(synchronized.withLock { $0.contains { $0.hasSuffix(".seg") } })
    try holder.endTurn()
    try holder.close()
  }

  /// All of them wait by a thread, again and again.
  @Test func `passes on among processes that have a limit`() async throws {
    let engines = try (0..<3).map { _ in try Self.open(folder, waiting: .seconds(600)) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for engine in engines {
        for _ in 0..<2 {
          group.addTask { for _ in 0..<100 { try Self.commit(engine) } }
        }
      }
      try await group.waitForAll()
    }
    for engine in engines {
      try engine.refresh()
      #expect(engine.rowCount(of: 1) == 600)
      try engine.close()
    }
    try holder.close()
    #expect(try StorageEngine.verify(at: folder.path).isSound)
  }
}

extension StorageEngine {
  /// Commits as soon as the turn comes, however short the wait for it may be.
  fileprivate func commitWhenPossible(_ commit: (StorageEngine) throws -> Void) {
    while true {
      do {
        return try commit(self)
      } catch StorageError.turnTimeout {
        continue
      } catch {
        Issue.record(error)
        return
      }
    }
  }
}

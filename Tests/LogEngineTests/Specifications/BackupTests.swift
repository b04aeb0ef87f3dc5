import Foundation
import LogTools
import LogEngineTestSupport
import RowFormat
import Synchronization
import Testing

@testable import LogEngine

@Suite struct `A backup` {
  private func open(_ path: String, on disk: any FileSystem) throws -> StorageEngine {
    try StorageEngine.open(at: path, options: MemoryStore.options(), fileSystem: disk)
  }

  /// Checks that a copy holds what the original held after a commit, and can be written to.
  private func check(_ path: String, _ store: MemoryStore, _ sequence: CommitSequence) throws {
    let report = try StorageEngine.verify(at: path, fileSystem: store.disk)
    #expect(report.problems.isEmpty)
    let copy = try open(path, on: store.disk)
    #expect(copy.lastCommit == sequence)
    #expect(copy.recovery.damage == nil)
    #expect(try MemoryStore.rows(of: copy) == store.history[Int(sequence.rawValue)])
    var batch = copy.makeBatch()
    let key = copy.reserveKeys(1, in: 1).lowerBound
    batch.insert(
      RowReference(table: 1, key: key),
      layout: LayoutNumber(1),
      row: MemoryStore.row(7, "in the copy").span.bytes
    )
    #expect(try copy.commit(&batch).rawValue == sequence.rawValue + 1)
    try copy.close()
    #expect(try StorageEngine.verify(at: path, fileSystem: store.disk).problems.isEmpty)
  }

  @Test(arguments: [0, 1, 30])
  func `holds what the store held, and both go on by themselves`(commits: Int) throws {
    let store = try MemoryStore()
    try store.work(commits, textLength: 6000)
    let sequence = try store.engine.backup(to: "copy")
    #expect(sequence == store.engine.lastCommit)
    try store.work(10, textLength: 6000)
    try check("copy", store, sequence)
    try store.work(2)
    #expect(try store.engine.verify().problems.isEmpty)
    #expect(try MemoryStore.rows(of: store.engine) == store.rows)
    try store.close()
    try store.open()
    #expect(try MemoryStore.rows(of: store.engine) == store.rows)
  }

  @Test func `takes the newest checkpoint with it`() throws {
    let store = try MemoryStore()
    try store.work(25, textLength: 6000)
    try store.engine.checkpoint()
    try store.work(2)
    let sequence = try store.engine.backup(to: "copy")
    let copy = try open("copy", on: store.disk)
    #expect(copy.recovery.checkpoint != nil)
    #expect(copy.recovery.ignoredCheckpointCount == 0)
    #expect(copy.recovery.scannedCommitCount == 2)
    try copy.close()
    // The copy is closed already, so its own check begins with opening it from that close.
    #expect(try MemoryStore.rows(of: open("copy", on: store.disk)) == store.rows)
    #expect(sequence == store.engine.lastCommit)
  }

  @Test func `of an empty store is an empty store`() throws {
    let disk = InMemoryFileSystem()
    let engine = try open("empty", on: disk)
    #expect(try engine.backup(to: "copy") == .zero)
    let copy = try open("copy", on: disk)
    try copy.apply(MemoryStore.tableChanges)
    #expect(copy.lastCommit == CommitSequence(1))
  }

  @Test func `can be made again and again, of the original and of a copy`() throws {
    let store = try MemoryStore()
    for round in 0..<4 {
      try store.work(8, textLength: 6000)
      let sequence = try store.engine.backup(to: "copy \(round)")
      let copy = try open("copy \(round)", on: store.disk)
      try copy.backup(to: "copy of copy \(round)")
      try copy.close()
      try check("copy of copy \(round)", store, sequence)
    }
  }

  @Test func `is made by a follower, too`() throws {
    let store = try MemoryStore()
    try store.work(20, textLength: 6000)
    let follower = try store.openReader()
    try store.work(10, textLength: 6000)
    let sequence = try follower.backup(to: "copy")
    #expect(sequence == follower.lastCommit)
    try check("copy", store, sequence)
  }

  @Test func `takes no checkpoint with it that is from after a compaction`() throws {
    let store = try MemoryStore()
    for number in 0..<12 as Range<Int64> {
      try store.commit([.insert(number, String(repeating: "x", count: 6000))])
    }
    try store.commit(store.rows.keys.sorted().map { .delete($0) })
    try store.commit(
      (0..<5 as Range<Int64>).map { .insert($0, String(repeating: "y", count: 4000)) }
    )
    let follower = try store.openReader()
    // The checkpoint counts no record of the segments that are gone, and that the follower still has.
    let writer = try store.engine.requireWriter()
    guard
      case .plan(let plan) = try Compactor.select(
        writer,
        .now,
        .nothing,
        fileLimit: .max,
        lastEnd: { 0 }
      )
    else {
      Issue.record("there is nothing to be compacted")
      return
    }
    let compactor = Compactor(writer, plan)
    while case .goesOn = try compactor.step(1 << 20) {}
    try store.engine.checkpoint()
    let sequence = try follower.backup(to: "copy")
    #expect(sequence == store.engine.lastCommit)
    try check("copy", store, sequence)
  }

  @Test func `is whole though commits are made at every call of its making`() throws {
    let store = try MemoryStore()
    try store.work(25, textLength: 6000)
    let isWorking = Mutex(false)
    let hooked = HookedFileSystem(store.disk) { call in
      guard isWorking.withLock({ $0 }), call.number % 2 == 0 else { return }
      try store.work(1, textLength: 3000)
    }
    let follower = try store.openReader(on: hooked)
    isWorking.withLock { $0 = true }
    let sequence = try follower.backup(to: "copy")
    isWorking.withLock { $0 = false }
    try hooked.rethrow()
    #expect(store.history.count > Int(sequence.rawValue) + 10)
    try check("copy", store, sequence)
  }

  @Test func `copies where files cannot have two names`() throws {
    let store = try MemoryStore()
    try store.work(25, textLength: 6000)
    let separate = SeparateFileSystem(store.disk)
    let follower = try store.openReader(on: separate)
    let sequence = try follower.backup(to: "copy")
    // Nothing is shared: what happens to the original does not show.
    for path in store.segments {
      try store.write([UInt8](repeating: 9, count: 100), to: path)
    }
    try check("copy", store, sequence)
  }

  @Test func `tells how far it has come`() throws {
    let store = try MemoryStore()
    try store.work(25, textLength: 6000)
    var last = (completed: 0, total: 1)
    try store.engine.backup(to: "copy") { progress in
      #expect(progress.completed >= last.completed)
      last = (progress.completed, progress.total)
    }
    #expect(last.completed == last.total && last.total > 100_000)
  }

  @Test func `is refused where something is`() throws {
    let store = try MemoryStore()
    #expect(throws: StorageError.destinationExists(path: store.path)) {
      try store.engine.backup(to: store.path)
    }
    try store.write([1], to: "file")
    #expect(throws: StorageError.destinationExists(path: "file")) {
      try store.engine.backup(to: "file")
    }
    try store.engine.backup(to: "copy")
    #expect(throws: StorageError.destinationExists(path: "copy")) {
      try store.engine.backup(to: "copy")
    }
  }

  @Test func `of a damaged store is left to salvage`() throws {
    let store = try MemoryStore()
    store.abandon()
    let engine = try store.openReader(.readOnlyUpToDamage)
    #expect(throws: StorageError.readOnly(path: store.path)) { try engine.backup(to: "copy") }
  }
}

@Suite struct `A backup that is interrupted` {
  /// A store on a simulated disk, and what was on that disk before each call of a backup.
  private func makeBackup() throws -> (rows: [UInt64: String], disks: [Disk], end: Disk) {
    let disks = Mutex<[Disk]>([])
    let isWatching = Mutex(false)
    let fileSystem = SimulatedFileSystem(seed: 1) { _, disk in
      if isWatching.withLock({ $0 }) { disks.withLock { $0.append(disk) } }
    }
    let engine = try StorageEngine.open(
      at: "/store",
      options: MemoryStore.options(),
      fileSystem: fileSystem
    )
    try engine.apply(MemoryStore.tableChanges)
    var batch = engine.makeBatch()
    for number in 0..<6 {
      let key = engine.reserveKeys(1, in: 1).lowerBound
      let text = String(repeating: "x", count: 20_000)
      batch.insert(
        RowReference(table: 1, key: key),
        layout: LayoutNumber(1),
        row: MemoryStore.row(Int64(number), text).span.bytes
      )
      try engine.commit(&batch)
    }
    isWatching.withLock { $0 = true }
    try engine.backup(to: "/copy")
    isWatching.withLock { $0 = false }
    return (try MemoryStore.rows(of: engine), disks.withLock { $0 }, fileSystem.disk)
  }

  private func rows(_ path: String, on disk: Disk) throws -> [UInt64: String]? {
    let fileSystem = SimulatedFileSystem(seed: 2, disk: disk)
    var options = MemoryStore.options()
    options.missingStore = .fail
    do {
      let engine = try StorageEngine.open(at: path, options: options, fileSystem: fileSystem)
      return try MemoryStore.rows(of: engine)
    } catch is StorageError {
      return nil
    }
  }

  @Test(arguments: [Scenario.nothingKept, .everythingKept, .random(1), .random(2), .random(3)])
  func `by a power cut is either whole or no store, and does no harm`(scenario: Scenario) throws {
    let (expected, disks, end) = try makeBackup()
    #expect(disks.count > 10)
    for (index, disk) in disks.enumerated() {
      let cut = disk.afterPowerCut(scenario.fates(of: disk.pending))
      if let found = try rows("/copy", on: cut) { #expect(found == expected, "call \(index)") }
      #expect(try rows("/store", on: cut) == expected, "call \(index)")
    }
    let cut = end.afterPowerCut(scenario.fates(of: end.pending))
    #expect(try rows("/copy", on: cut) == expected)
    #expect(try rows("/store", on: cut) == expected)
  }

  @Test func `by a call that fails can be tried again, and does no harm`() throws {
    let store = try MemoryStore()
    try store.work(25, textLength: 6000)
    let before = store.rows
    var failed = 0
    for number in 1... {
      let failing = FailingFileSystem(store.disk)
      let follower = try store.openReader(on: failing)
      failing.fail(after: number)
      let path = "copy \(number)"
      do {
        try follower.backup(to: path)
        break
      } catch {
        failed += 1
        failing.fail(after: .max)
        #expect(try store.disk.list(path) == nil, "call \(number) left folders")
        try follower.backup(to: path)
        #expect(try StorageEngine.verify(at: path, fileSystem: store.disk).problems.isEmpty)
      }
    }
    #expect(failed > 10)
    try store.work(2)
    #expect(before != store.rows)
    #expect(try store.engine.verify().problems.isEmpty)
  }

  @Test func `leaves a folder that was there as empty as it was`() throws {
    let store = try MemoryStore()
    try store.work(25, textLength: 6000)
    try store.disk.makeDirectory("copy")
    let failing = FailingFileSystem(store.disk)
    let follower = try store.openReader(on: failing)
    failing.fail(after: 8)
    #expect(throws: StorageError.self) { try follower.backup(to: "copy") }
    #expect(try store.disk.list("copy") == [])
  }
}

/// A file system on which no file has two names.
private struct SeparateFileSystem: ForwardingFileSystem {
  let base: any FileSystem
  init(_ base: any FileSystem) { self.base = base }

  func link(_ path: String, as newPath: String) throws(StorageError) -> Bool { false }
}

import Foundation
import LogEngineTestSupport
import RowFormat
import Testing

@testable import LogEngine
@testable import LogFormat
@testable import LogTools

// Closing cuts the last segment off at a page's end. A session that publishes a manifest and commits nothing
// ends with one more mark, for which the page may have no room.

@Suite struct `A store that is closed with its last page full` {
  /// What a session does before it closes the store.
  enum Step: String, CaseIterable, Sendable {
    case nothing, checkpoint, compact, migrate, trimHistory
  }

  private static func options(_ mode: EngineOptions.Mode = .readWrite) -> EngineOptions {
    var options = EngineOptions()
    options.mode = mode
    options.background = .caller
    options.smallestSegment = 16 << 10
    options.largestSegment = 16 << 10
    return options
  }

  private static func open(
    _ disk: Disk,
    _ mode: EngineOptions.Mode = .readWrite
  ) throws -> (StorageEngine, SimulatedFileSystem) {
    let fileSystem = SimulatedFileSystem(seed: 3, disk: disk)
    let engine = try StorageEngine.open(
      at: SimulatedStore.path,
      options: options(mode),
      fileSystem: fileSystem
    )
    return (engine, fileSystem)
  }

  /// A closed store whose log is so many times eight bytes longer than the shortest.
  private static func makeStore(_ length: Int) throws -> Disk {
    let fileSystem = SimulatedFileSystem(seed: 1)
    let store = try SimulatedStore(fileSystem)
    // The second row does not fit into the first segment, which can be packed then.
    try store.insert(1, text: String(repeating: "x", count: 64_500))
    try store.insert(1, text: String(repeating: "y", count: 2_000 + length * 8))
    try store.engine.close()
    return fileSystem.disk
  }

  /// One for each log length, up to a page.
  private static let stores = Result { try (0..<512).map(makeStore) }

  private static func commit(_ engine: StorageEngine) throws {
    var batch = engine.makeBatch()
    let key = engine.reserveKeys(1, in: 1).lowerBound
    let row = MemoryStore.row(Int64(key), "committed before closing")
    batch.insert(RowReference(table: 1, key: key), layout: LayoutNumber(1), row: row.span.bytes)
    try engine.commit(&batch)
  }

  /// Opens a store, does something, and closes it.
  private static func run(_ step: Step, commits: Bool, on disk: Disk) throws -> Disk {
    var (engine, fileSystem) = try open(disk)
    switch step {
    case .nothing: break
    case .checkpoint: try engine.checkpoint()
    case .compact: try engine.compact()
    case .trimHistory: try engine.compact(keeping: HistoryRetention(byteCount: 1))
    case .migrate: engine = try engine.makeStagedStore().publish()
    }
    if commits { try commit(engine) }
    try engine.close()
    return fileSystem.disk
  }

  @Test(arguments: Step.allCases, [false, true])
  func `opens again, whatever was done before`(step: Step, commits: Bool) throws {
    for (length, store) in try Self.stores.get().enumerated() {
      var disk = store
      var expected = 2
      // The second session begins at what the first left behind.
      for _ in 0..<(length % 16 == 0 ? 2 : 1) {
        disk = try Self.run(step, commits: commits, on: disk)
        if commits { expected += 1 }
      }
      let (engine, fileSystem) = try Self.open(disk)
      #expect(try MemoryStore.rows(of: engine).count == expected, "log length \(length)")
      try engine.close()
      guard length % 16 == 0 else { continue }
      let report = try StorageEngine.verify(at: SimulatedStore.path, fileSystem: fileSystem)
      #expect(report.isSound, "log length \(length): \(report.problems)")
    }
  }

  @Test func `gets no mark where the device has no room for one, and opens again`() throws {
    for (length, store) in try Self.stores.get().enumerated() {
      var disk = store
      var (engine, fileSystem) = try Self.open(disk)
      try engine.compact(keeping: HistoryRetention(byteCount: 1))
      var plan = FaultPlan()
      plan.isFull = true
      fileSystem.setFaults(plan)
      try? engine.close()
      disk = fileSystem.disk
      (engine, fileSystem) = try Self.open(disk)
      #expect(try MemoryStore.rows(of: engine).count == 2, "log length \(length)")
      try engine.close()
    }
  }
}

@Suite struct `A store of which closing cut the mark off` {
  /// How many bytes of the mark are left.
  static let rests = [0, 16, 32]
  private static let segment = "store/log/0000000000000002.seg"
  private static let markStart = 73_728

  private func makeDisk(_ rest: Int) throws -> InMemoryFileSystem {
    let folder = try #require(Bundle.module.url(forResource: "Stores", withExtension: nil))
    let file = folder.appending(path: "cut-close-mark-\(rest).files")
    let disk = InMemoryFileSystem()
    try FileListing.make(String(contentsOf: file, encoding: .utf8), in: "store", on: disk)
    return disk
  }

  private func open(
    _ disk: InMemoryFileSystem,
    _ mode: EngineOptions.Mode
  ) throws -> StorageEngine {
    var options = EngineOptions()
    options.background = .caller
    options.mode = mode
    return try StorageEngine.open(at: "store", options: options, fileSystem: disk)
  }

  @Test(arguments: rests)
  func `is read, found sound, and mended by the first writer`(rest: Int) throws {
    let disk = try makeDisk(rest)
    let reader = try open(disk, .readOnly)
    #expect(reader.lastCommit == CommitSequence(3))
    #expect(reader.rowCount(of: 1) == 2)
    let before = try StorageEngine.verify(at: "store", fileSystem: disk)
    #expect(before.isSound, "\(before.problems)")

    let writer = try open(disk, .readWrite)
    #expect(writer.recovery.wasClosedCleanly)
    #expect(writer.recovery.ignoredCheckpointCount == 0)
    #expect(try disk.size(of: Self.segment) == Self.markStart - rest + 40)
    try writer.apply([.addTable(name: "more")])
    try writer.close()
    #expect(try reader.refresh() == CommitSequence(4))
    let after = try StorageEngine.verify(at: "store", fileSystem: disk)
    #expect(after.problems.isEmpty, "\(after.problems)")
  }

  /// What is not the end of the mark is missed all the same.
  @Test(
    arguments: rests,
    [EngineOptions.Mode.readOnly, .readWrite]
  )
  func `is refused if it lacks more than that`(rest: Int, mode: EngineOptions.Mode) throws {
    let start = Self.markStart - rest
    for size in [start - 8, start - 40, start - 4096] {
      let disk = try makeDisk(rest)
      try disk.open(Self.segment, .write).setSize(size)
      #expect(throws: StorageError.self, "\(size) bytes") { try open(disk, mode) }
    }
    for offset in [start - 1, start - 30] + (rest > 0 ? [start, start + rest - 1] : []) {
      let disk = try makeDisk(rest)
      let file = try disk.open(Self.segment, .write)
      let flipped = try disk.bytes(of: Self.segment)[offset] ^ 1
      _ = try file.write([flipped].span.bytes, at: offset)
      #expect(throws: StorageError.self, "offset \(offset)") { try open(disk, mode) }
    }
  }
}

@Suite struct `A commit after one that could not be written` {
  @Test(arguments: [FileOperation.write, .synchronize])
  func `says so, also if it is the same commit`(operation: FileOperation) throws {
    let store = try SimulatedStore()
    try store.insert(3)
    let next = store.fileSystem.callCount(of: operation) + 1
    store.fileSystem.setFaults(FaultPlan([Fault(operation, number: next)]))
    for key in [10, 10, 10, 2, 11] as [UInt64] {
      #expect {
        try store.insert(1, at: key)
      } throws: { error in
        if case .poisoned? = error as? StorageError { true } else { false }
      }
    }
    #expect(throws: StorageError.self) { try store.update(1, number: 5) }
    #expect(throws: StorageError.self) { try store.delete(99) }
  }
}

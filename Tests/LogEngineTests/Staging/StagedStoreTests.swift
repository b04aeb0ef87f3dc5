import Foundation
import LogEngineTestSupport
import RowFormat
import Testing

@testable import LogEngine
@testable import LogFormat
@testable import LogTools

// A change that is too large for one commit, prepared in a copy: whatever happens, the store is what it was, or
// what the copy is.

@Suite struct `A staged change of a store` {
  private static let path = "/store"
  private static let addBlobs: [CatalogueChange] = [
    .addTable(name: "photos"),
    .addColumn(table: 2, name: "photo", type: .blob, isNullable: true),
    .setLayout(table: 2, columns: [1]),
  ]

  private static func open(_ disk: any FileSystem) throws -> StorageEngine {
    try StorageEngine.open(at: path, options: MemoryStore.options(), fileSystem: disk)
  }

  /// A store with rows in packs and in the log, and a blob.
  private static func makeStore(on disk: any FileSystem) throws {
    let engine = try open(disk)
    try engine.apply(MemoryStore.tableChanges + addBlobs)
    for round in 0..<4 {
      try insert(8, "before \(round)", into: engine)
      if round == 1 { try engine.compact() }
    }
    try insertPhoto(1, into: engine)
    try engine.close()
  }

  private static func insert(_ count: Int, _ text: String, into engine: StorageEngine) throws {
    var batch = engine.makeBatch()
    for key in engine.reserveKeys(count, in: 1) {
      let row = MemoryStore.row(Int64(key), text)
      batch.insert(
        RowReference(table: 1, key: key),
        layout: LayoutNumber(1),
        row: row.span.bytes
      )
    }
    try engine.commit(&batch)
  }

  private static func insertPhoto(_ byte: UInt8, into engine: StorageEngine) throws {
    let layout = RowLayout([.blob])
    var batch = engine.makeBatch()
    let bytes = [UInt8](repeating: byte, count: 3000)
    let blob = try batch.addBlob(bytes.span.bytes)
    var writer = RowWriter()
    writer.begin(layout)
    writer.append(0, blob: blob)
    let range = writer.finish()
    let key = engine.reserveKeys(1, in: 2).lowerBound
    batch.insert(
      RowReference(table: 2, key: key),
      layout: LayoutNumber(1),
      row: writer.bytes.extracting(range)
    )
    try engine.commit(&batch)
  }

  /// What a test looks at: the rows, the blobs' bytes, and the catalogue's note.
  private struct Content: Hashable {
    var rows: [UInt64: String]
    var photos: [UInt8]
    var note: [UInt8]?

    init(_ engine: StorageEngine) throws {
      rows = try MemoryStore.rows(of: engine)
      var found: [UInt8] = []
      try engine.scan(2) { _, _, row in
        guard let blob = RowLayout([.blob]).blob(0, in: row)?.reference else { return .proceed }
        try engine.openBlob(blob).withBytes { bytes in
          found.append(bytes.withUnsafeBytes { Set($0).count == 1 ? $0[0] : 0 })
        }
        return .proceed
      }
      photos = found
      note = engine.catalogue.metadata["version"]
    }
  }

  /// Does what a migration does: many commits, of which half would be worth nothing.
  private static func change(_ engine: StorageEngine) throws {
    try engine.apply([.addColumn(table: 1, name: "extra", type: .text, isNullable: true)])
    for round in 0..<6 { try insert(20, "after \(round)", into: engine) }
    var batch = engine.makeBatch()
    for key in UInt64(1)...5 { batch.delete(RowReference(table: 1, key: key)) }
    batch.delete(RowReference(table: 2, key: 1))
    try engine.commit(&batch)
    try insertPhoto(2, into: engine)
    try engine.apply([.setMetadata(key: "version", value: [2])])
  }

  @Test(arguments: [false, true])
  func `is the store once it is published, which then goes on`(compacts: Bool) throws {
    let disk = InMemoryFileSystem()
    try Self.makeStore(on: disk)
    let staged = try Self.open(disk).makeStagedStore()
    try Self.change(staged.engine)
    if compacts { try staged.engine.compact() }
    let expected = try Content(staged.engine)
    #expect(expected.photos == [2])
    let engine = try staged.publish()
    #expect(try Content(engine) == expected)
    #expect(engine.recovery.ignoredCheckpointCount == 0)
    try Self.insert(3, "later", into: engine)
    let later = try Content(engine)
    // Looks for the file of the blob whose row was deleted, slice by slice.
    for _ in 0..<4 { engine.performBackgroundWork() }
    try engine.close()
    let problems = try StorageEngine.verify(at: Self.path, fileSystem: disk).problems
    #expect(problems.isEmpty, "\(problems)")
    let again = try Self.open(disk)
    #expect(try Content(again) == later)
    try again.close()
    #expect(try disk.list(Self.path + "/staged") == nil)
  }

  @Test func `is found by readers, which read its files where they are`() throws {
    let disk = InMemoryFileSystem()
    try Self.makeStore(on: disk)
    let original = try Self.open(disk)
    let staged = try original.makeStagedStore()
    try Self.change(staged.engine)
    let expected = try Content(staged.engine)
    try staged.engine.close()
    let files = StagedFiles(original.state.paths, disk)
    try files.publishManifest()
    #expect(files.areBeingPublished)
    // Another process gives the files their names meanwhile.
    let hooked = HookedFileSystem(disk) { call in if call.number == 20 { try files.settle() } }
    var options = EngineOptions()
    options.mode = .readOnly
    options.background = .caller
    let reader = try StorageEngine.open(at: Self.path, options: options, fileSystem: hooked)
    try hooked.rethrow()
    #expect(hooked.callCount > 20)
    #expect(try Content(reader) == expected)
    #expect(!files.areBeingPublished)
  }

  /// The process that gives the files their names is killed before each of these.
  @Test func `is read, verified, copied and salvaged whole before its files have their names`()
    throws
  {
    let seed: UInt64 = 8
    let first = SimulatedFileSystem(seed: seed)
    try Self.makeStore(on: first)
    let calm = SimulatedFileSystem(seed: seed, disk: first.disk)
    let callsBefore = try Self.attempt(on: calm, failing: nil).callsBefore
    let total = calm.callCount(of: .rename) - callsBefore[.rename, default: 0]
    var publicationCount = 0
    for number in 1...total {
      let writer = SimulatedFileSystem(seed: seed, disk: first.disk)
      _ = try Self.attempt(on: writer, failing: (.rename, number))
      let disk = SimulatedFileSystem(seed: seed, disk: writer.disk)
      let files = StagedFiles(StorePaths(root: Self.path), disk)
      guard files.areBeingPublished else { continue }
      publicationCount += 1
      var options = MemoryStore.options(.readOnly)
      options.background = .caller
      let reader = try StorageEngine.open(at: Self.path, options: options, fileSystem: disk)
      let content = try Content(reader)
      #expect(content.note == [2] && content.photos == [2], "rename \(number)")
      #expect(reader.recovery.damage == nil)
      try reader.backup(to: "/copy")
      _ = try StorageEngine.salvage(at: Self.path, to: "/saved", fileSystem: disk)
      for path in ["/copy", "/saved"] {
        let copy = try StorageEngine.open(at: path, options: options, fileSystem: disk)
        let copied = try Content(copy)
        #expect(copied.rows == content.rows && copied.photos == content.photos, "rename \(number)")
        try copy.close()
      }
      let report = try StorageEngine.verify(at: Self.path, fileSystem: disk)
      #expect(report.isSound, "rename \(number): \(report.problems)")
      #expect(!report.problems.contains { $0.path == Self.path + "/staged" })
      try reader.close()
      // The next opening for writing finds the same.
      let again = try Self.open(disk)
      #expect(try Content(again) == content)
      try again.close()
    }
    #expect(publicationCount > 3)
  }

  @Test func `leaves the store as it was until then, and if it is discarded`() throws {
    let disk = InMemoryFileSystem()
    try Self.makeStore(on: disk)
    let engine = try Self.open(disk)
    let before = try Content(engine)
    let staged = try engine.makeStagedStore()
    try Self.change(staged.engine)
    #expect(try Content(engine) == before)
    #expect(throws: StorageError.self) { try Self.open(disk) }
    staged.discard()
    #expect(try disk.list(Self.path + "/staged") == nil)
    let again = try Self.open(disk)
    #expect(try Content(again) == before)
    #expect(again.recovery.wasClosedCleanly)
    try again.close()
    #expect(try StorageEngine.verify(at: Self.path, fileSystem: disk).problems == [])
  }

  @Test func `can be made again, whatever the last one left behind`() throws {
    let disk = InMemoryFileSystem()
    try Self.makeStore(on: disk)
    for _ in 0..<3 {
      // Ended as a process that is killed does.
      let staged = try Self.open(disk).makeStagedStore()
      try Self.change(staged.engine)
    }
    let staged = try Self.open(disk).makeStagedStore()
    try Self.change(staged.engine)
    let expected = try Content(staged.engine)
    #expect(try Content(staged.publish()) == expected)
  }

  @Test func `is followed by a reader that was there before`() throws {
    let disk = InMemoryFileSystem()
    try Self.makeStore(on: disk)
    let writer = try Self.open(disk)
    try Self.insert(2, "just before", into: writer)
    let reader = try StorageEngine.open(
      at: Self.path,
      options: MemoryStore.options(.readOnly),
      fileSystem: disk
    )
    let before = try Content(reader)
    let staged = try writer.makeStagedStore()
    try Self.change(staged.engine)
    try reader.refresh()
    #expect(try Content(reader) == before)
    let engine = try staged.publish()
    try reader.refresh()
    #expect(try Content(reader) == Content(engine))
    try Self.insert(2, "just after", into: engine)
    try reader.refresh()
    #expect(try Content(reader) == Content(engine))
  }

  /// Seed 8119 of `Tools/crashtest --only lifecycle`: packs have numbers beyond that of the segment that is ready.
  @Test(arguments: [false, true])
  func `survives a power cut at any moment, whole or not at all`(hasPacked: Bool) throws {
    let seed: UInt64 = 12
    let original = SimulatedFileSystem(seed: seed)
    try Self.makeStore(on: original)
    nonisolated(unsafe) var moments: [Disk] = []
    let disk = SimulatedFileSystem(seed: seed + 1, disk: original.disk) { _, disk in
      moments.append(disk)
    }
    let engine = try Self.open(disk)
    if hasPacked {
      for _ in 0..<6 { try Self.insert(60, "packed", into: engine) }
      let preparation = try #require(engine.writer).preparation
      try preparation.prepare(at: 0)
      let next = preparation.nextID
      try engine.compact(keeping: HistoryRetention(byteCount: 1))
      #expect(preparation.isReady(for: 1) && preparation.nextID > next)
    }
    let before = try Content(engine)
    let staged = try engine.makeStagedStore()
    let first = moments.count
    try Self.change(staged.engine)
    let after = try Content(staged.engine)
    let published = try staged.publish()
    let last = moments.count
    moments.append(disk.disk)
    try published.close()
    #expect(moments.count > 100)
    var outcomes: Set<Content> = []
    for (number, moment) in moments.enumerated()
    where number >= first && number % (8 * Thoroughness.stride) == 0
      || number > last - 60 && number % Thoroughness.stride == 0 || number == moments.count - 1
    {
      var limits = CrashStateLimits.few
      limits.randomStates = 1
      moment.forEachCrashState(
        random: SeededGenerator(seed: seed + UInt64(number)),
        limits: limits
      ) { state in
        do {
          let again = try Self.open(SimulatedFileSystem(seed: seed, disk: state.disk))
          let content = try Content(again)
          outcomes.insert(content)
          let isAllowed = content == after || content == before && number < last
          #expect(isAllowed, "seed \(seed), moment \(number), \(state.scenario)")
        } catch {
          Issue.record(error, "seed \(seed), moment \(number), \(state.scenario)")
        }
      }
    }
    #expect(outcomes == [before, after])
  }

  @Test(
    arguments: [
      FileOperation.write, .synchronize, .rename, .link, .unlink, .synchronizeDirectory, .open,
      .makeDirectory, .read,
    ]
  )
  func `survives the failure of any call, whole or not at all`(operation: FileOperation) throws {
    let seed: UInt64 = 5
    let first = SimulatedFileSystem(seed: seed)
    try Self.makeStore(on: first)
    let trial = SimulatedFileSystem(seed: seed, disk: first.disk)
    let before = try Content(try Self.open(SimulatedFileSystem(seed: seed, disk: first.disk)))
    let calm = try Self.attempt(on: trial, failing: nil)
    #expect(calm.error == nil)
    let total = trial.callCount(of: operation) - calm.callsBefore[operation, default: 0]
    #expect(total > 0)
    for number in stride(from: 1, through: total, by: max(1, total / 60)) {
      let disk = SimulatedFileSystem(seed: seed, disk: first.disk)
      let made = try Self.attempt(on: disk, failing: (operation, number))
      disk.setFaults(FaultPlan())
      let again = try Self.open(SimulatedFileSystem(seed: seed, disk: disk.disk))
      let content = try Content(again)
      #expect(
        content == before && made.error != nil || content.note == [2] && content.photos == [2],
        "call \(number) of \(total)"
      )
    }
  }

  private static func attempt(
    on disk: SimulatedFileSystem,
    failing fault: (operation: FileOperation, number: Int)?
  ) throws -> (error: StorageError?, callsBefore: [FileOperation: Int]) {
    let engine = try open(disk)
    var calls: [FileOperation: Int] = [:]
    for operation in [FileOperation.write, .synchronize, .rename, .link, .unlink, .open] {
      calls[operation] = disk.callCount(of: operation)
    }
    for operation in [FileOperation.synchronizeDirectory, .makeDirectory, .read] {
      calls[operation] = disk.callCount(of: operation)
    }
    if let (operation, number) = fault {
      let number = calls[operation, default: 0] + number
      disk.setFaults(FaultPlan([Fault(operation, number: number)]))
    }
    do {
      let staged = try engine.makeStagedStore()
      try change(staged.engine)
      _ = try staged.publish()
      return (nil, calls)
    } catch {
      return (try #require(error as? StorageError), calls)
    }
  }
}

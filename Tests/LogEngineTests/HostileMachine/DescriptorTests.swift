import Foundation
import LogEngineTestSupport
import RowFormat
import Synchronization
import Testing

@testable import LogEngine
@testable import LogFormat

@Suite struct `A moment without file descriptors` {
  @Test(arguments: [EngineOptions.Durability.full, .relaxed(interval: .seconds(3600))])
  func `refuses what was asked for, and nothing after it`(
    durability: EngineOptions.Durability
  ) throws {
    let session = try CrowdedSession(durability)
    try session.run(refusing: .max)
    #expect(session.openingCount > 50)
    for number in 1...session.openingCount {
      do {
        try CrowdedSession(durability).run(refusing: number)
      } catch {
        Issue.record("opening \(number) of \(session.openingCount) was refused: \(error)")
      }
    }
  }

  #if os(Linux)
  @Test func `is told from a synchronization that failed`() async {
    await #expect(processExitsWith: .success) {
      var limit = rlimit(rlim_cur: 0, rlim_max: 0)
      precondition(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
      do throws(StorageError) {
        try PosixFileSystem().synchronizeDirectory("/")
        preconditionFailure("there was a descriptor")
      } catch {
        precondition(error == .inputOutput(path: "/", operation: .open, errno: EMFILE), "\(error)")
      }
    }
  }
  #endif
}

#if os(Linux)
/// An app that holds on to what it has closed must be able to open other stores for as long as it runs.
@Suite struct `A store that was closed` {
  private let path = FileManager.default.temporaryDirectory.appending(
    path: "closed-\(UUID().uuidString)"
  ).path

  /// The files below the folder of the store that this process has open.
  private func openFiles() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
      try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
    }
    .filter { $0.hasPrefix(path + "/") }
  }

  private func fill(_ engine: StorageEngine) throws {
    for number in 0..<200 {
      var batch = engine.makeBatch()
      batch.insert(
        RowReference(table: 1, key: try engine.takeKeys(1, in: 1).lowerBound),
        layout: LayoutNumber(1),
        row: MemoryStore.row(Int64(number), String(repeating: "x", count: 400)).span.bytes
      )
      try engine.commit(&batch)
    }
  }

  @Test(
    arguments: [EngineOptions.Writers.oneProcess, .severalProcesses],
    [EngineOptions.BackgroundWork.caller, .ownThread]
  )
  func `keeps no descriptor, and its rows can be read`(
    writers: EngineOptions.Writers,
    background: EngineOptions.BackgroundWork
  ) throws {
    defer { try? FileManager.default.removeItem(atPath: path) }
    var options = MemoryStore.options()
    options.writers = writers
    options.background = background
    let engine = try StorageEngine.open(at: path, options: options)
    try engine.apply(MemoryStore.tableChanges)
    try fill(engine)
    try engine.compact()
    try fill(engine)
    var readOnly = MemoryStore.options(.readOnly)
    readOnly.missingStore = .fail
    let reader = try StorageEngine.open(at: path, options: readOnly)
    let rows = try MemoryStore.rows(of: engine)
    try engine.close()
    try reader.close()
    #expect(rows.count == 400)
    #expect(try MemoryStore.rows(of: engine) == rows)
    #expect(try MemoryStore.rows(of: reader) == rows)
    #expect(try openFiles() == [])
    try engine.close()
    withExtendedLifetime((engine, reader)) {}
  }

  @Test(arguments: [EngineOptions.Writers.oneProcess, .severalProcesses])
  func `keeps none either if it could not be written any more`(
    writers: EngineOptions.Writers
  ) throws {
    defer { try? FileManager.default.removeItem(atPath: path) }
    var options = MemoryStore.options()
    options.writers = writers
    let fileSystem = UnsynchronizedFileSystem(PosixFileSystem())
    let engine = try StorageEngine.open(at: path, options: options, fileSystem: fileSystem)
    try engine.apply(MemoryStore.tableChanges)
    try fill(engine)
    fileSystem.fails.store(true, ordering: .relaxed)
    #expect(throws: StorageError.self) { try fill(engine) }
    try? engine.close()
    #expect(try openFiles() == [])
    withExtendedLifetime(engine) {}
  }
}

/// A file system whose files cannot be synchronized from some time on.
private final class UnsynchronizedFileSystem: ForwardingFileSystem {
  let base: any FileSystem
  let fails = Atomic<Bool>(false)

  init(_ base: any FileSystem) { self.base = base }

  func open(_ path: String, _ mode: OpenMode) throws(StorageError) -> any OpenFile {
    UnsynchronizedFile(try base.open(path, mode), self)
  }

  private final class UnsynchronizedFile: OpenFile {
    private let file: any OpenFile
    private let fileSystem: UnsynchronizedFileSystem
    var path: String { file.path }

    init(_ file: any OpenFile, _ fileSystem: UnsynchronizedFileSystem) {
      self.file = file
      self.fileSystem = fileSystem
    }

    func size() throws(StorageError) -> Int { try file.size() }
    func read(into buffer: inout MutableRawSpan, at offset: Int) throws(StorageError) -> Int {
      try file.read(into: &buffer, at: offset)
    }
    func write(_ bytes: RawSpan, at offset: Int) throws(StorageError) -> Int {
      try file.write(bytes, at: offset)
    }
    func synchronize() throws(StorageError) {
      if fileSystem.fails.load(ordering: .relaxed) {
        throw .inputOutput(path: path, operation: .synchronize, errno: 5)
      }
      try file.synchronize()
    }
    func allocate(_ size: Int) throws(StorageError) { try file.allocate(size) }
    func setSize(_ size: Int) throws(StorageError) { try file.setSize(size) }
    func map(_ count: Int, _ kind: MappingKind) throws(StorageError) -> MappedFile? {
      try file.map(count, kind)
    }
    func close() { file.close() }
  }
}
#endif

/// A store with something of everything, one of whose calls finds no descriptor.
private final class CrowdedSession {
  private let disk = SimulatedFileSystem(seed: 1)
  private let fileSystem: CrowdedFileSystem
  private let durability: EngineOptions.Durability
  private let store: PhotoStore
  /// What was acknowledged.
  private var rows: [UInt64: PhotoRow] = [:]

  init(_ durability: EngineOptions.Durability) throws {
    var options = PhotoStore.options
    options.durability = durability
    options.compaction = .onDemand
    fileSystem = CrowdedFileSystem(disk)
    self.durability = durability
    store = try PhotoStore(on: fileSystem, options)
  }

  var openingCount: Int { fileSystem.count }

  func run(refusing number: Int) throws {
    fileSystem.refuse(number)
    for round in 0..<2 {
      for step in 0..<8 { try save(round * 8 + step) }
      try attempt { try store.engine.checkpoint() }
      store.settle()
      try attempt { _ = try store.engine.compact() }
      try save(round * 8 + 7)
    }
    store.settle()
    try close()
    try checkFiles()
    let again = try PhotoStore(on: disk)
    try again.check(rows)
    again.settle()
    try checkBlobs()
  }

  /// Inserts a row with a photo, changes one and deletes one, in one commit that is tried again if it is refused.
  private func save(_ number: Int) throws {
    let title = String(repeating: "\(number) ", count: 900)
    let row = PhotoRow(title: title, photo: Photo(seed: UInt64(number), byteCount: 3000))
    let keys = rows.keys.sorted()
    var changes = [PhotoStore.Change.insert(store.newKey(), row)]
    if number % 3 == 1, let key = keys.last { changes.append(.replacePhoto(key, row)) }
    if number % 4 == 3, let key = keys.first { changes.append(.delete(key)) }
    let hadRefused = fileSystem.hasRefused
    var batch = store.engine.makeBatch()
    do {
      for change in changes { try store.add(change, to: &batch) }
    } catch {
      try expectRefusal(error)
      batch = store.engine.makeBatch()
      for change in changes { try store.add(change, to: &batch) }
    }
    do {
      try store.engine.commit(&batch)
    } catch {
      try expectRefusal(error)
      try store.engine.commit(&batch)
    }
    rows.apply(changes)
    if fileSystem.hasRefused, !hadRefused, durability == .full { try cutPower() }
  }

  private func attempt(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch {
      try expectRefusal(error)
      try body()
    }
  }

  /// Closes the store; one that could not say that it was closed is opened as after a crash.
  private func close() throws {
    do {
      try store.engine.close()
    } catch {
      try expectRefusal(error)
    }
  }

  private func expectRefusal(_ error: any Error) throws {
    guard case .inputOutput(_, _, CrowdedFileSystem.noDescriptors) = error as? StorageError else {
      throw error
    }
  }

  /// What was acknowledged once it was tried again is on disk.
  private func cutPower() throws {
    try disk.disk.forEachCrashState(random: SeededGenerator(seed: 1), limits: .few) { state in
      try PhotoStore(on: SimulatedFileSystem(seed: 2, disk: state.disk)).check(rows)
    }
  }

  /// Nothing is left that no manifest names.
  private func checkFiles() throws {
    let paths = StorePaths(root: "/store")
    let manifests = ManifestFiles(paths: paths, fileSystem: disk, synchronizes: true)
    let manifest = try #require(try manifests.readNewest())
    let packs = try PackID.numbers(paths, disk)
    #expect(packs == manifest.base?.packs.map(\.id) ?? [])
    #expect(try disk.list(paths.temporary) == [])
    if manifest.isClean {
      #expect(try LogFiles.numbers(paths, disk) == manifest.segments.map(\.id))
    }
    try checkBlobs()
  }

  private func checkBlobs() throws {
    #expect(try disk.blobPaths().count == rows.external(above: store.threshold).count)
  }
}

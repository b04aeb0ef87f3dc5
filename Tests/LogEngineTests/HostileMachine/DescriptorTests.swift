import Foundation
import LogEngineTestSupport
import RowFormat
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

import LogEngine
import LogTools
import LogEngineTestSupport
import RowFormat
import Synchronization
import Testing

private func row(_ title: String, _ byteCount: Int) -> PhotoRow {
  PhotoRow(title: title, photo: Photo(seed: UInt64(byteCount), byteCount: byteCount))
}

/// A store of three photos in side files and one in its row.
private struct SomePhotos {
  let disk = InMemoryFileSystem()
  let store: PhotoStore
  var rows: [UInt64: PhotoRow] = [:]

  init() throws {
    store = try PhotoStore(on: disk)
    for (title, count) in [("a", 300), ("b", 400), ("c", 500), ("d", 10)] {
      let row = row(title, count)
      rows[try store.insert(row)] = row
    }
  }
}

@Suite struct `A backup of a store with side files` {
  @Test func `has them, whatever becomes of the original`() throws {
    let original = try SomePhotos()
    try original.disk.makeDirectory("/copies")
    try original.store.engine.backup(to: "/copies/one")
    for key in original.rows.keys { try original.store.commit([.delete(key)]) }
    original.store.settle()
    #expect(try original.store.engine.blobUsage().fileCount == 0)
    let copy = try PhotoStore(on: original.disk, at: "/copies/one")
    try copy.check(original.rows)
    let new = row("e", 600)
    var rows = original.rows
    rows[try copy.insert(new)] = new
    try copy.check(rows)
    copy.settle()
    #expect(try copy.engine.blobUsage().fileCount == 4)
  }

  /// A writer in another process knows nothing of who copies its store.
  @Test func `begins again if a writer has taken one meanwhile`() throws {
    let original = try SomePhotos()
    try original.disk.makeDirectory("/copies")
    let isTaken = Atomic<Bool>(false)
    nonisolated(unsafe) let store = original.store
    let fileSystem = HookedFileSystem(original.disk) { call in
      guard call.operation == .link, call.path.contains("/blobs/"),
        !isTaken.exchange(true, ordering: .relaxed)
      else { return }
      try store.commit([.delete(3)])
      store.settle()
    }
    var options = EngineOptions()
    options.mode = .readOnly
    let follower = try StorageEngine.open(at: "/store", options: options, fileSystem: fileSystem)
    let last = follower.lastCommit
    #expect(try follower.backup(to: "/copies/one") > last)
    try fileSystem.rethrow()
    var rows = original.rows
    rows[3] = nil
    try PhotoStore(on: original.disk, at: "/copies/one").check(rows)
  }

  @Test func `is refused if one is missing, and leaves nothing behind`() throws {
    let original = try SomePhotos()
    try original.disk.unlink(try original.disk.blobPaths()[1])
    try original.disk.makeDirectory("/copies")
    #expect(throws: StorageError.self) { try original.store.engine.backup(to: "/copies/one") }
    #expect(try original.disk.allFiles(in: "/copies") == [])
    try original.store.commit([.delete(2)])
    try original.store.engine.backup(to: "/copies/one")
  }
}

@Suite struct `A salvaged store with side files` {
  @Test func `has each value that can be read, and says which cannot`() throws {
    let original = try SomePhotos()
    try original.store.engine.close()
    let paths = try original.disk.blobPaths()
    try original.disk.unlink(paths[0])
    var bytes = try original.disk.bytes(of: paths[1])
    bytes[100] ^= 1
    try original.disk.write(bytes, to: paths[1])
    let report = try StorageEngine.salvage(
      at: "/store",
      to: "/salvaged",
      fileSystem: original.disk
    )
    #expect(report.lostBlobs.map(\.owner.key) == [1, 2])
    #expect(!report.isComplete)
    let copy = try PhotoStore(on: original.disk, at: "/salvaged")
    var rows = original.rows
    rows[1]?.photo = nil
    rows[2]?.photo = nil
    try copy.check(rows)
  }
}

@Suite struct `Verifying a store with side files` {
  private func problems(of store: SomePhotos) throws -> [VerificationProblem] {
    let report = try store.store.engine.verify()
    #expect(report.blobCount + report.problems.count { $0.severity == .damage } == 3)
    return report.problems.sorted { $0.path < $1.path }
  }

  @Test func `finds nothing if there is nothing`() throws {
    #expect(try problems(of: SomePhotos()) == [])
  }

  @Test func `names what is missing, damaged or nobody's`() throws {
    let store = try SomePhotos()
    let paths = try store.disk.blobPaths()
    try store.disk.unlink(paths[0])
    var bytes = try store.disk.bytes(of: paths[1])
    bytes[100] ^= 1
    try store.disk.write(bytes, to: paths[1])
    try store.disk.write([1], to: "/store/blobs/00/0000000000000099.blob")
    let found = try problems(of: store)
    #expect(found.map(\.path) == paths.prefix(2) + ["/store/blobs/00/0000000000000099.blob"])
    #expect(found.map(\.severity) == [.damage, .damage, .harmless])
  }
}

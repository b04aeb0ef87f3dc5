import LogEngine
import LogEngineTestSupport
import LogTools
import Testing

@Suite struct `A salvage that fails` {
  private func makeStore() throws -> MemoryStore {
    let store = try MemoryStore()
    try store.work(20, textLength: 600)
    try store.close()
    return store
  }

  /// Every call on the new store fails once, in one attempt each; the one after it finds an empty place.
  @Test func `leaves nothing that looks like a store, and can be tried again`() throws {
    let store = try makeStore()
    var failureCount = 0
    for count in 1... {
      let place = "rescued \(count)"
      let failing = FailingFileSystem(store.disk, below: place)
      failing.fail(after: count)
      do {
        _ = try StorageEngine.salvage(at: store.path, to: place, fileSystem: failing)
      } catch {
        failureCount += 1
        #expect(try store.disk.list(place) ?? [] == [], "after call \(count)")
        _ = try StorageEngine.salvage(at: store.path, to: place, fileSystem: store.disk)
      }
      let rescued = try StorageEngine.open(at: place, fileSystem: store.disk)
      #expect(try MemoryStore.rows(of: rescued) == store.rows)
      if !failing.hasFailed { break }
    }
    // Folders, segments, manifests, checkpoints: what is made takes more calls than these.
    #expect(failureCount > 20)
  }

  @Test func `leaves a folder that was there, and what somebody put into it meanwhile`() throws {
    let store = try makeStore()
    try store.disk.makeDirectory("rescued")
    let failing = FailingFileSystem(store.disk, below: "rescued/tmp/manifest")
    // The first manifest was made and renamed by then, and the one of closing was made.
    failing.fail(after: 4)
    let hooked = HookedFileSystem(failing) { call in
      if call.operation == .rename, call.path.hasSuffix("0001") {
        _ = try store.disk.open("rescued/tmp/notes.txt", .create)
      }
    }
    #expect(throws: StorageError.self) {
      _ = try StorageEngine.salvage(at: store.path, to: "rescued", fileSystem: hooked)
    }
    try hooked.rethrow()
    #expect(try store.disk.list("rescued") == ["tmp"])
    #expect(try store.disk.list("rescued/tmp") == ["notes.txt"])
  }

  @Test func `by the end of its process belongs to nobody, and makes room for the next`() throws {
    let store = try makeStore()
    let left = try SnapshotFileSystem.files(during: store)
    #expect(throws: StorageError.self) {
      _ = try StorageEngine.open(at: "rescued", fileSystem: left)
    }
    _ = try StorageEngine.salvage(at: store.path, to: "rescued", fileSystem: left)
    let rescued = try StorageEngine.open(at: "rescued", fileSystem: left)
    #expect(try MemoryStore.rows(of: rescued) == store.rows)
  }
}

/// The files as a process leaves them that ends in the middle of a salvage.
private enum SnapshotFileSystem {
  static func files(during store: MemoryStore) throws -> InMemoryFileSystem {
    let copy = InMemoryFileSystem()
    let hooked = HookedFileSystem(store.disk) { call in
      // The manifest that makes the new store the program's own would come next.
      guard call.operation == .rename, call.path.hasPrefix("rescued/manifest."),
        try copy.list("rescued") == nil, !call.path.hasSuffix("0001")
      else { return }
      for directory in ["store", "rescued"] { try duplicate(directory, from: store.disk, to: copy) }
    }
    _ = try StorageEngine.salvage(at: store.path, to: "rescued", fileSystem: hooked)
    try hooked.rethrow()
    return copy
  }

  private static func duplicate(
    _ directory: String,
    from source: InMemoryFileSystem,
    to target: InMemoryFileSystem
  ) throws {
    try target.makeDirectory(directory)
    for name in try source.list(directory) ?? [] {
      let path = directory + "/" + name
      if try source.list(path) != nil {
        try duplicate(path, from: source, to: target)
        continue
      }
      let file = try source.open(path, .read)
      var bytes = [UInt8](repeating: 0, count: try file.size())
      if !bytes.isEmpty {
        var span = bytes.mutableSpan
        var room = span.mutableBytes
        _ = try file.read(into: &room, at: 0)
        _ = try target.open(path, .create).write(bytes.span.bytes, at: 0)
      } else {
        _ = try target.open(path, .create)
      }
    }
  }
}

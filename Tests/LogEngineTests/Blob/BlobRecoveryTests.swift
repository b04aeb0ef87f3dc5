import LogEngine
import LogEngineTestSupport
import RowFormat
import Testing

private func row(_ title: String, _ byteCount: Int) -> PhotoRow {
  PhotoRow(title: title, photo: Photo(seed: UInt64(byteCount), byteCount: byteCount))
}

@Suite struct `A sweep of the folder of blobs` {
  let disk = InMemoryFileSystem()

  /// A store that a process left without closing it, with a photo and files nobody owns.
  private func abandoned() throws -> [UInt64: PhotoRow] {
    let store = try PhotoStore(on: disk)
    let rows = [try store.insert(row("Lisbon", 500)): row("Lisbon", 500)]
    // A commit that never came, and one that took a photo whose file was not removed.
    try disk.write([1], to: "/store/blobs/00/0000000000000009.blob")
    let key = try store.insert(row("Porto", 600))
    try store.commit([.delete(key)])
    return rows
  }

  @Test func `removes after a crash what no row owns, and nothing else`() throws {
    let rows = try abandoned()
    let store = try PhotoStore(on: disk)
    #expect(try store.engine.blobUsage().fileCount == 3)
    #expect(store.engine.isSweepingBlobs)
    store.settle()
    #expect(try store.engine.blobUsage().fileCount == 1)
    #expect(!store.engine.isSweepingBlobs)
    try store.check(rows)
  }

  @Test func `leaves alone what is written meanwhile, under whatever number`() throws {
    var rows = try abandoned()
    let store = try PhotoStore(on: disk)
    for number in 0..<20 {
      store.engine.performBackgroundWork()
      let new = row("\(number)", 200 + number)
      rows[try store.insert(new)] = new
    }
    store.settle()
    try store.check(rows)
    #expect(try store.engine.blobUsage().fileCount == rows.count)
  }

  @Test func `is made once`() throws {
    _ = try abandoned()
    var store = try PhotoStore(on: disk)
    store.settle()
    try store.insert(row("Faro", 300))
    try store.engine.close()
    store = try PhotoStore(on: disk)
    #expect(!store.engine.isSweepingBlobs)
  }

  @Test func `is made again if it did not come to its end`() throws {
    _ = try abandoned()
    var store = try PhotoStore(on: disk)
    store.engine.performBackgroundWork()
    try store.insert(row("Faro", 300))
    try store.engine.close()
    store = try PhotoStore(on: disk)
    #expect(store.engine.isSweepingBlobs)
    store.settle()
    #expect(try store.engine.blobUsage().fileCount == 2)
  }

  @Test func `is made after a close that had to leave files to a reader`() throws {
    var store = try PhotoStore(on: disk)
    let key = try store.insert(row("Lisbon", 500))
    let view = store.engine.makeReadView()
    try store.commit([.delete(key)])
    store.settle()
    try store.engine.close()
    #expect(try store.engine.blobUsage().fileCount == 1)
    withExtendedLifetime(view) {}
    store = try PhotoStore(on: disk)
    store.settle()
    #expect(try store.engine.blobUsage().fileCount == 0)
  }

  @Test func `removes nothing if a row cannot be read`() throws {
    _ = try abandoned()
    let segment = try #require(try disk.list("/store/log")?.sorted().first)
    let path = "/store/log/\(segment)"
    let store = try PhotoStore(on: disk)
    // Damage behind the engine's back, after it has read the log.
    let bytes = try disk.bytes(of: path)
    let title = Array("Lisbon".utf8)
    let place = try #require(
      bytes.indices.first { bytes[$0...].starts(with: title) }
    )
    let file = try disk.open(path, .write)
    _ = try file.write([0xFF].span.bytes, at: place)
    store.settle()
    #expect(try store.engine.blobUsage().fileCount == 3)
    #expect(!store.engine.isSweepingBlobs)
  }

  @Test func `is not made if it is not wanted`() throws {
    _ = try abandoned()
    var options = PhotoStore.options
    options.blobSweep = .never
    let store = try PhotoStore(on: disk, options)
    store.settle()
    #expect(try store.engine.blobUsage().fileCount == 3)
  }

  @Test func `is made of a closed store if it is wanted`() throws {
    var store = try PhotoStore(on: disk)
    try store.insert(row("Lisbon", 500))
    try store.engine.close()
    try disk.write([1], to: "/store/blobs/00/0000000000000000.blob")
    try disk.write([1], to: "/store/blobs/00/notes.txt")
    try disk.write([1], to: "/store/blobs/00/0000000000000007.blob")
    var options = PhotoStore.options
    options.blobSweep = .always
    store = try PhotoStore(on: disk, options)
    store.settle()
    let left = try disk.blobPaths().map { $0.split(separator: "/").last ?? "" }
    #expect(left == ["0000000000000000.blob", "0000000000000001.blob", "notes.txt"])
  }
}

@Suite struct `The number of a blob` {
  @Test(arguments: [true, false])
  func `is never given again to another while a row has it`(closes: Bool) throws {
    let disk = InMemoryFileSystem()
    var rows: [UInt64: PhotoRow] = [:]
    for session in 0..<5 {
      let store = try PhotoStore(on: disk)
      for number in 0..<3 {
        let new = row("\(session).\(number)", 200 + session * 10 + number)
        rows[try store.insert(new)] = new
      }
      let key = try #require(rows.keys.min())
      let new = row("replaced in \(session)", 900 + session)
      try store.commit([.replacePhoto(key, new)])
      rows[key] = new
      try store.check(rows)
      if closes { try store.engine.close() }
    }
    let store = try PhotoStore(on: disk)
    store.settle()
    try store.check(rows)
    let files = try store.engine.blobUsage().fileCount
    #expect(files == rows.count)
  }

  @Test func `is known from a checkpoint, without the commits before it`() throws {
    let disk = InMemoryFileSystem()
    var options = PhotoStore.options
    options.checkpointInterval = 1
    var rows: [UInt64: PhotoRow] = [:]
    do {
      let store = try PhotoStore(on: disk, options)
      for number in 1...3 {
        let new = row("\(number)", 200 + number)
        rows[try store.insert(new)] = new
      }
      store.engine.performBackgroundWork()
    }
    let store = try PhotoStore(on: disk, options)
    #expect(store.engine.recovery.checkpoint != nil)
    let new = row("4", 300)
    rows[try store.insert(new)] = new
    try store.check(rows)
  }

  @Test func `cannot lead out of the folder`() {
    let disk = InMemoryFileSystem()
    for number in [UInt64(1), 255, 256, 1 << 40, BlobID.maximum.rawValue] {
      #expect(throws: StorageError.self) {
        let store = try PhotoStore(on: disk)
        let reference = BlobReference(id: BlobID(rawValue: number), byteCount: 1, checksum: 0)
        do {
          _ = try store.engine.openBlob(reference)
        } catch StorageError.corruption(let corruption) {
          #expect(corruption.path.hasPrefix("/store/blobs/"))
          #expect(!corruption.path.contains(".."))
          throw StorageError.corruption(corruption)
        }
      }
    }
  }
}

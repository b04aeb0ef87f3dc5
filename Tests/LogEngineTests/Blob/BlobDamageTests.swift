import LogEngine
import LogEngineTestSupport
import RowFormat
import Testing

private let photo = Photo(seed: 1, byteCount: 700)

/// A store with one row whose photo stands in a side file, closed.
private struct OnePhoto {
  let disk = InMemoryFileSystem()
  let key: UInt64
  let path: String
  let intact: [UInt8]

  init() throws {
    let store = try PhotoStore(on: disk)
    key = try store.insert(PhotoRow(title: "Lisbon", photo: photo))
    _ = try store.insert(PhotoRow(title: "Porto", photo: Photo(seed: 2, byteCount: 700)))
    try store.engine.close()
    path = try disk.blobPaths()[0]
    intact = try disk.bytes(of: path)
  }

  /// Opens the photo: the rest of its row must be readable whatever has become of the file.
  func read(_ reads: EngineOptions.ReadMethod) throws -> [UInt8] {
    var options = PhotoStore.options
    options.mode = .readOnly
    options.reads = reads
    let store = try PhotoStore(on: disk, options)
    let title = try store.engine.withRow(store.reference(key)) { row, _ in
      PhotoStore.layout.text(0, in: row)
    }
    #expect(title == "Lisbon")
    let reference = try #require(try store.blob(of: key))
    return try store.engine.openBlob(reference).withBytes { $0.withUnsafeBytes { Array($0) } }
  }

  func write(_ bytes: [UInt8]) throws { try disk.write(bytes, to: path) }
}

private func isCorruption(_ error: any Error, at path: String) -> Bool {
  if case StorageError.corruption(let corruption) = error { corruption.path == path } else { false }
}

@Suite struct `A damaged side file` {
  @Test(arguments: [EngineOptions.ReadMethod.mapped, .copied])
  func `is found out whichever byte is flipped`(reads: EngineOptions.ReadMethod) throws {
    let store = try OnePhoto()
    #expect(try store.read(reads) == photo.bytes)
    for index in store.intact.indices {
      var bytes = store.intact
      bytes[index] ^= 1 << UInt8(index % 8)
      try store.write(bytes)
      // The version's lower half and the zeros are covered by the header's checksum like all else.
      #expect { try store.read(reads) } throws: { error in
        if case StorageError.unsupportedVersion = error { return true }
        return isCorruption(error, at: store.path)
      }
    }
  }

  @Test(arguments: [EngineOptions.ReadMethod.mapped, .copied])
  func `is found out wherever it is cut off, or if it is too long`(
    reads: EngineOptions.ReadMethod
  ) throws {
    let store = try OnePhoto()
    for count in store.intact.indices {
      try store.write(Array(store.intact.prefix(count)))
      #expect { try store.read(reads) } throws: { isCorruption($0, at: store.path) }
    }
    try store.write(store.intact + [0])
    #expect { try store.read(reads) } throws: { isCorruption($0, at: store.path) }
  }

  @Test func `is found out if it is missing`() throws {
    let store = try OnePhoto()
    try store.disk.unlink(store.path)
    let missing = Corruption(path: store.path, offset: 0, problem: .missing(.blob))
    #expect(throws: StorageError.corruption(missing)) { try store.read(.mapped) }
  }

  @Test func `is found out if it is another's`() throws {
    let store = try OnePhoto()
    try store.write(try store.disk.bytes(of: store.disk.blobPaths()[1]))
    #expect { try store.read(.mapped) } throws: { isCorruption($0, at: store.path) }
  }

  @Test func `is found out if it is another store's`() throws {
    let store = try OnePhoto()
    let other = try OnePhoto()
    try store.write(other.intact)
    #expect { try store.read(.mapped) } throws: { isCorruption($0, at: store.path) }
  }

  @Test func `is named by a check, with its row and column`() throws {
    let store = try OnePhoto()
    var bytes = store.intact
    bytes[200] ^= 1
    try store.write(bytes)
    try store.disk.write([1, 2, 3], to: "/store/blobs/00/00000000000000ff.blob")
    var options = PhotoStore.options
    options.mode = .readOnly
    let engine = try PhotoStore(on: store.disk, options).engine
    let check = try engine.makeReadView().checkBlobs()
    #expect(check.count == 2)
    #expect(check.byteCount == 1400)
    #expect(check.damaged.map(\.blob.owner) == [RowReference(table: 1, key: store.key)])
    #expect(check.damaged.map(\.blob.column) == [2])
    #expect(check.unownedFileCount == 1)
    #expect(check.unownedByteCount == 3)
  }
}

import Foundation
import LogEngineTestSupport
import RowFormat
import Testing

@testable import LogEngine
@testable import LogFormat

@Suite struct `A blob that is mapped` {
  private let path = FileManager.default.temporaryDirectory.appending(
    path: "mapped-blobs-\(UUID().uuidString)"
  ).path

  private static var options: EngineOptions {
    var options = PhotoStore.options
    options.reads = .mapped
    options.durability = .relaxed(interval: .seconds(3600))
    return options
  }

  /// Makes a store with photos of one size, and returns their references.
  private func makeStore(
    of count: Int,
    byteCount: Int = 5000,
    on fileSystem: any FileSystem = PosixFileSystem()
  ) throws -> (PhotoStore, [BlobReference]) {
    let store = try PhotoStore(on: fileSystem, at: path, Self.options)
    let references = try (0..<count).map { number in
      let photo = Photo(seed: UInt64(number), byteCount: byteCount)
      let key = try store.insert(PhotoRow(title: "\(number)", photo: photo))
      return try #require(try store.blob(of: key))
    }
    return (store, references)
  }

  private func bytes(_ number: Int, byteCount: Int = 5000) -> [UInt8] {
    Photo(seed: UInt64(number), byteCount: byteCount).bytes
  }

  #if os(Linux)
  /// An app that holds a thousand photos has as many mappings, and its descriptors for other things.
  @Test func `takes no descriptor`() throws {
    defer { try? FileManager.default.removeItem(atPath: path) }
    let (store, references) = try makeStore(of: 20)
    let blobs = try references.map { try store.engine.openBlob($0) }
    #expect(blobs.allSatisfy { $0.isMapped })
    let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter {
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
      return target?.hasPrefix(path + "/blobs/") ?? false
    }
    #expect(open.isEmpty)
    for (number, blob) in blobs.enumerated() {
      try blob.withBytes { bytes in
        #expect(bytes.withUnsafeBytes { Array($0) } == self.bytes(number))
      }
    }
  }
  #endif

  @Test(arguments: [1, 4096, 70_000])
  func `is read piece by piece, too, also when its row is gone`(byteCount: Int) throws {
    defer { try? FileManager.default.removeItem(atPath: path) }
    let (store, references) = try makeStore(of: 1, byteCount: max(byteCount, 200))
    let blob = try store.engine.openBlob(references[0])
    try store.commit([.delete(1)])
    store.settle()
    var read: [UInt8] = []
    try blob.forEachChunk(of: byteCount) { piece in piece.withUnsafeBytes { read += Array($0) } }
    #expect(read == bytes(0, byteCount: max(byteCount, 200)))
    try blob.check()
  }

  /// A process may have only so many mappings: a value must not read as nothing for that.
  @Test func `is read into memory if the system refuses to map it`() throws {
    defer { try? FileManager.default.removeItem(atPath: path) }
    let (store, references) = try makeStore(of: 1, on: UnmappableBlobs(base: PosixFileSystem()))
    let blob = try store.engine.openBlob(references[0])
    #expect(!blob.isMapped)
    try blob.withBytes { bytes in
      #expect(bytes.withUnsafeBytes { Array($0) } == self.bytes(0))
    }
  }
}

/// A file system of a process that has as many mappings as it may have when it opens a blob.
private struct UnmappableBlobs: ForwardingFileSystem {
  let base: any FileSystem

  func open(_ path: String, _ mode: OpenMode) throws(StorageError) -> any OpenFile {
    let file = try base.open(path, mode)
    return path.hasSuffix(".blob") ? UnmappableFile(file) : file
  }

  private final class UnmappableFile: OpenFile {
    private let file: any OpenFile
    var path: String { file.path }

    init(_ file: any OpenFile) { self.file = file }

    func size() throws(StorageError) -> Int { try file.size() }
    func read(into buffer: inout MutableRawSpan, at offset: Int) throws(StorageError) -> Int {
      try file.read(into: &buffer, at: offset)
    }
    func write(_ bytes: RawSpan, at offset: Int) throws(StorageError) -> Int {
      try file.write(bytes, at: offset)
    }
    func synchronize() throws(StorageError) { try file.synchronize() }
    func allocate(_ size: Int) throws(StorageError) { try file.allocate(size) }
    func setSize(_ size: Int) throws(StorageError) { try file.setSize(size) }
    func map(_ count: Int, _ kind: MappingKind) throws(StorageError) -> MappedFile? {
      throw .inputOutput(path: path, operation: .map, errno: ENOMEM)
    }
  }
}

import LogEngineTestSupport
import RowFormat
import Synchronization
import Testing

@testable import LogEngine
@testable import LogFormat

@Suite struct `A checkpoint's file` {
  /// A file of the file system in memory with the bytes of a checkpoint, and how to read it.
  private struct Copy {
    let files: CheckpointFiles
    let file: any OpenFile
    let bytes: [UInt8]

    init() throws {
      let store = try SimulatedStore()
      try store.insert(700)
      for key in 1...20 as ClosedRange<UInt64> { try store.update(key, number: -1) }
      try store.delete(30)
      try store.engine.close()
      bytes = store.disk.bytes(of: try #require(store.checkpoints.last))
      files = CheckpointFiles(
        paths: StorePaths(root: "store"),
        fileSystem: InMemoryFileSystem(),
        synchronizes: false
      )
      file = try files.fileSystem.open(files.paths.checkpoint(1), .create)
      try restore()
    }

    func restore() throws {
      try file.setSize(bytes.count)
      try bytes.withUnsafeBytes { try file.writeAll($0.bytes, at: 0) }
    }

    func read(_ reads: EngineOptions.ReadMethod = .copied) throws -> (Checkpoint, [Table]) {
      let read = try CheckpointFile(reading: 1, files)
      return (read.checkpoint, try read.makeTables(reads))
    }
  }

  @Test(arguments: [EngineOptions.ReadMethod.mapped, .copied])
  func `gives back what was written`(reads: EngineOptions.ReadMethod) throws {
    let (checkpoint, tables) = try Copy().read(reads)
    #expect(checkpoint.catalogue.tables.map(\.name) == ["numbers"])
    #expect(checkpoint.place.sequence == 23)
    #expect(tables.map(\.number) == [1])
    #expect(tables[0].liveRowCount.load(ordering: .relaxed) == 699)
    #expect(tables[0].nextKey.load(ordering: .relaxed) == 701)
    #expect(tables[0].pages.pageNumbers == [0, 1])
    #expect(tables[0].pages.location(of: 20).kind == .delta)
    #expect(tables[0].pages.location(of: 30).isDelete)
    #expect(tables[0].pages.location(of: 700).kind == .insert)
    #expect(tables[0].pages.location(of: 701).isNone)
  }

  @Test func `is refused with any byte of it changed`() throws {
    let copy = try Copy()
    var refused: [Int] = []
    for index in copy.bytes.indices {
      try [copy.bytes[index] ^ 0x20].withUnsafeBytes { try copy.file.writeAll($0.bytes, at: index) }
      do {
        _ = try copy.read()
      } catch is StorageError {
        refused.append(index)
      }
      try [copy.bytes[index]].withUnsafeBytes { try copy.file.writeAll($0.bytes, at: index) }
    }
    #expect(refused == Array(copy.bytes.indices))
    _ = try copy.read()
  }

  @Test func `is refused if it is shorter`() throws {
    let copy = try Copy()
    var refused = 0
    for length in stride(from: copy.bytes.count - 1, through: 0, by: -1) {
      try copy.file.setSize(length)
      do {
        _ = try copy.read()
      } catch is StorageError {
        refused += 1
      }
    }
    #expect(refused == copy.bytes.count)
  }

  @Test func `is refused under another number`() throws {
    let copy = try Copy()
    try copy.files.fileSystem.rename(
      copy.files.paths.checkpoint(1),
      to: copy.files.paths.checkpoint(2)
    )
    #expect(throws: StorageError.self) { try CheckpointFile(reading: 2, copy.files) }
  }

  @Test func `with metadata that lie and checksums that do not is refused, or harmless`() throws {
    let copy = try Copy()
    let header = try copy.file.readBytes(FileHeader.byteCount, at: 0)
    let decoded = try FileHeader(decoding: header.bytes, .checkpoint, path: "")
    let extent = CheckpointExtent(decoding: header.bytes)
    let metadata = copy.bytes.suffix(extent.length)
    for index in metadata.indices {
      for value in [0, 1, 0x7F, 0x80, 0xFF] as [UInt8] {
        var changed = Array(metadata)
        changed[index - metadata.startIndex] = value
        // Must not trap; what it returns depends on the byte.
        changed.withUnsafeBytes { _ = Checkpoint(decoding: $0.bytes, decoded) }
      }
    }
    for length in 0..<metadata.count {
      let cut = Array(metadata.prefix(length))
      let isRefused = cut.withUnsafeBytes { Checkpoint(decoding: $0.bytes, decoded) == nil }
      if !isRefused { Issue.record("length \(length)") }
    }
  }
}

import LogFormat
import RowFormat
import Synchronization

/// A checkpoint's file, open for reading; its metadata are complete.
package struct CheckpointFile {
  package let checkpoint: Checkpoint
  /// The size of the file when it was opened, in bytes, increments included.
  package let byteCount: Int
  /// The salt of its header.
  let salt: UInt64
  /// The end of the metadata, where increments begin.
  let metadataEnd: Int
  let file: any OpenFile

  /// Opens a file, and reads everything but the pages.
  ///
  /// - Throws: ``StorageError`` if the file is not a checkpoint with that number, or cannot be read.
  package init(reading number: UInt64, _ files: CheckpointFiles) throws(StorageError) {
    let path = files.paths.checkpoint(number)
    file = try files.fileSystem.open(path, .read)
    let size = try file.size()
    byteCount = size
    let first = try file.readBytes(FileHeader.byteCount, at: 0)
    let header = try FileHeader(decoding: first.bytes, .checkpoint, path: path)
    let extent = CheckpointExtent(decoding: first.bytes)
    guard header.number == number, extent.length <= size, extent.offset <= size - extent.length,
      extent.length <= Checkpoint.metadataByteLimit
    else {
      throw Self.damage(
        path,
        at: FileHeader.particularOffset,
        .truncated(.checkpoint, needed: extent.offset.addingClamped(extent.length), available: size)
      )
    }
    let metadata = try file.readBytes(extent.length, at: extent.offset)
    let found = CheckpointExtent(of: metadata.bytes, at: extent.offset)
    guard found == extent, let checkpoint = Checkpoint(decoding: metadata.bytes, header),
      checkpoint.pagesEnd == extent.offset
    else {
      let problem = Corruption.Problem.checksumMismatch(
        of: .checkpoint,
        expected: extent.checksum,
        found: found.checksum
      )
      throw Self.damage(path, at: extent.offset, problem)
    }
    self.checkpoint = checkpoint
    salt = header.salt
    metadataEnd = extent.offset + extent.length
  }

  /// Builds the checkpoint's tables, after checking every page.
  ///
  /// - Parameter reads: Whether the pages may stay in a mapping, whose pages become the process's own when they are written to.
  /// - Returns: The tables, without their layouts.
  /// - Throws: ``StorageError/corruption(_:)`` if a page is damaged.
  /// - Complexity: O(pages), at the speed of the checksum: about 10 GB/s.
  package func makeTables(_ reads: EngineOptions.ReadMethod) throws -> [Table] {
    try makeTables(reads, nil)
  }

  /// Builds the tables, and checks pages of a mapping when they are first used.
  ///
  /// - Parameters:
  ///   - reads: As above.
  ///   - damage: What is done about damage that is found later; `nil` checks every page now.
  /// - Returns: The tables, without their layouts.
  /// - Throws: ``StorageError/corruption(_:)`` if a page that is checked now is damaged.
  func makeTables(_ reads: EngineOptions.ReadMethod, _ damage: PageDamage?) throws -> [Table] {
    let mapping = reads == .mapped ? try file.map(checkpoint.pagesEnd, .privateWritable) : nil
    var offset = FileHeader.byteCount
    return try checkpoint.tables.map { image in
      let table = Table(number: image.number)
      table.nextKey.store(image.nextKey, ordering: .relaxed)
      table.liveRowCount.store(image.rowCount, ordering: .relaxed)
      if let mapping {
        try adopt(image.pages, at: offset, of: mapping, into: table, damage)
      } else {
        try copy(image.pages, at: offset, into: table)
      }
      offset += image.pages.count * IndexPages.pageByteCount
      return table
    }
  }

  private func adopt(
    _ pages: [Checkpoint.PageImage],
    at start: Int,
    of mapping: MappedFile,
    into table: Table,
    _ damage: PageDamage?
  ) throws {
    let unchecked = damage.map {
      UncheckedPages(pages, at: start, of: mapping, table: table.number, $0)
    }
    if unchecked == nil {
      mapping.detach(start..<(start + pages.count * IndexPages.pageByteCount))
      try mapping.withBytes { bytes in
        var offset = start
        for page in pages {
          try check(bytes.extracting(offset..<(offset + IndexPages.pageByteCount)), page, offset)
          offset += IndexPages.pageByteCount
        }
      }
    }
    let sequence = checkpoint.place.sequence
    table.pages.adopt(pages, at: start, of: mapping, sequence: sequence, unchecked)
  }

  private func copy(
    _ pages: [Checkpoint.PageImage],
    at start: Int,
    into table: Table
  ) throws {
    var offset = start
    for page in pages {
      let bytes = try file.readBytes(IndexPages.pageByteCount, at: offset)
      try check(bytes.bytes, page, offset)
      table.pages.insert(
        bytes.bytes,
        number: page.number,
        sequence: checkpoint.place.sequence
      )
      offset += IndexPages.pageByteCount
    }
  }

  private func check(
    _ bytes: RawSpan,
    _ page: Checkpoint.PageImage,
    _ offset: Int
  ) throws(StorageError) {
    let found = CRC32C.extend(0, over: bytes)
    guard found == page.checksum, bytes.byteCount == IndexPages.pageByteCount else {
      let problem = Corruption.Problem.checksumMismatch(
        of: .checkpoint,
        expected: page.checksum,
        found: found
      )
      throw Self.damage(file.path, at: offset, problem)
    }
  }

  static func damage(
    _ path: String,
    at offset: Int,
    _ problem: Corruption.Problem
  ) -> StorageError {
    .corruption(Corruption(path: path, offset: offset, problem: problem))
  }
}

extension Int {
  /// Returns the sum, or the greatest number if the sum exceeds it.
  fileprivate func addingClamped(_ other: Int) -> Int {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}

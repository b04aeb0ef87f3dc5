import RowFormat
import Synchronization

/// An open pack.
///
/// Any number of threads may read it at once. Its file is mapped if the file system offers that, and read piece by piece
/// otherwise; bytes are checked before they are used, and damage is an error that names the place.
public final class PackReader: Sendable {
  package let file: any OpenFile
  package let mapping: MappedFile?
  package let header: FileHeader
  package let footer: PackFooter
  /// For each table and layout, ascending, the numbers of its blocks by key.
  let groups: [BlockGroup]
  package let slots: [BlockSlot]
  package let cache: BlockCache?
  /// The size of the pack in rows, blocks and bytes.
  public let summary: PackSummary
  private let dictionaries: Mutex<[PackDictionary?]>
  let readAhead = ReadAhead()
  private let isReadHereAndThere = Atomic(false)
  /// Memory into which blocks are decoded before rows are assembled; used by one reader at a time.
  let spareVectors = Mutex<[ColumnVector]>([])
  /// The means to cut out single rows; used by one reader at a time.
  let spareCut = Mutex<BlockCut?>(nil)

  /// The blocks of one table and layout.
  package struct BlockGroup: Sendable {
    let schema: Int
    var blocks: [Int]
  }

  /// The pack's file.
  public var path: String { file.path }
  /// The number of the pack.
  public var id: PackID { PackID(rawValue: UInt32(truncatingIfNeeded: header.number)) }

  /// The commits whose rows were packed: the first and the last.
  public var sequences: (first: CommitSequence, last: CommitSequence) {
    (CommitSequence(footer.firstSequence), CommitSequence(footer.lastSequence))
  }

  package init(
    file: any OpenFile,
    mapping: MappedFile?,
    header: FileHeader,
    footer: PackFooter,
    groups: [BlockGroup],
    cache: BlockCache?,
    summary: PackSummary
  ) {
    self.file = file
    self.mapping = mapping
    self.header = header
    self.footer = footer
    self.groups = groups
    self.cache = cache
    self.summary = summary
    slots = footer.blocks.map { _ in BlockSlot() }
    dictionaries = Mutex(footer.dictionaries.map { _ in nil })
  }

  deinit { cache?.remove(slots) }

  /// Lends the bytes of a range of the file, which must be inside the file.
  package func withBytes<R>(_ range: Range<Int>, _ body: (RawSpan) throws -> R) throws -> R {
    if let mapping { return try mapping.withBytes { try body($0.extracting(range)) } }
    let buffer = try file.readBytes(range.count, at: range.lowerBound)
    guard buffer.count == range.count else {
      throw damage(
        at: range.lowerBound,
        .truncated(.pack, needed: range.upperBound, available: range.lowerBound + buffer.count)
      )
    }
    return try body(buffer.bytes)
  }

  /// Gives back the file, if the bytes can be read without it.
  package func closeFile() { if mapping != nil { file.close() } }

  /// Announces the order in which the bytes will be read.
  package func expect(_ pattern: AccessPattern) {
    isReadHereAndThere.store(pattern == .random, ordering: .relaxed)
    mapping?.expect(pattern)
  }

  /// Fetches the whole block of a row that is about to be read.
  ///
  /// If the system was advised of random reads, each page of the block would be waited for separately.
  func fetch(_ block: BlockEntry) {
    guard isReadHereAndThere.load(ordering: .relaxed) else { return }
    file.willRead(block.offset..<(block.offset + block.byteCount))
  }

  package func damage(at offset: Int, _ problem: Corruption.Problem) -> StorageError {
    .corruption(Corruption(path: path, offset: offset, problem: problem))
  }
}

// MARK: Dictionaries

extension PackReader {
  /// Returns the dictionary of a column, read at the first use; `nil` if it has none.
  package func dictionary(table: UInt16, column: UInt16) throws -> PackDictionary? {
    let found = footer.dictionaries.firstIndex { $0.table == table && $0.column == column }
    guard let found else { return nil }
    // Held during the read: another thread that needs it would have to read it, too.
    return try dictionaries.withLock { dictionaries in
      if let known = dictionaries[found] { return known }
      let read = try readDictionary(footer.dictionaries[found])
      dictionaries[found] = read
      return read
    }
  }

  private func readDictionary(_ entry: DictionaryEntry) throws -> PackDictionary {
    var chunk = ByteBuffer(capacity: 64)
    let chunkEntry = ChunkEntry(
      end: 0,
      rawByteCount: entry.rawByteCount,
      checksum: entry.checksum,
      rawChecksum: entry.rawChecksum,
      encoding: .plain,
      codec: entry.codec,
      hasNulls: false
    )
    let range = entry.offset..<(entry.offset + entry.storedByteCount)
    try withBytes(range) { stored in
      try chunkEntry.unpack(stored, into: &chunk) { problem in
        damage(at: entry.offset, problem)
      }
    }
    guard let dictionary = PackDictionary(decoding: chunk, count: entry.valueCount) else {
      throw damage(
        at: entry.offset,
        .inconsistent(.packDictionary, table: entry.table, key: UInt64(entry.column))
      )
    }
    return dictionary
  }
}

extension ChunkEntry {
  /// Checks a stored chunk and appends its uncompressed bytes.
  ///
  /// - Parameters:
  ///   - stored: The bytes from the file.
  ///   - buffer: Receives the uncompressed bytes.
  ///   - damage: Converts a problem to an error.
  /// - Throws: The error for the problem found.
  func unpack(
    _ stored: RawSpan,
    into buffer: inout ByteBuffer,
    _ damage: (Corruption.Problem) -> StorageError
  ) throws(StorageError) {
    try check(stored, against: checksum, damage)
    if codec == .stored {
      guard stored.byteCount == rawByteCount else {
        throw damage(
          .truncated(.packColumn, needed: rawByteCount, available: stored.byteCount)
        )
      }
      buffer.append(stored)
      return
    }
    let start = buffer.count
    do throws(LZ4.Failure) {
      try LZ4.decompress(stored, count: rawByteCount, into: &buffer)
    } catch {
      throw damage(.truncated(.packColumn, needed: rawByteCount, available: stored.byteCount))
    }
    try check(buffer.bytes.extracting(start..<buffer.count), against: rawChecksum, damage)
  }

  func check(
    _ bytes: RawSpan,
    against expected: UInt32,
    _ damage: (Corruption.Problem) -> StorageError
  ) throws(StorageError) {
    let found = CRC32C.extend(0, over: bytes)
    guard found == expected else {
      throw damage(.checksumMismatch(of: .packColumn, expected: expected, found: found))
    }
  }
}

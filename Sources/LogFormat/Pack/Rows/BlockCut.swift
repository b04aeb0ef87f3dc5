import RowFormat

/// The means to cut rows out of a block, one after the other.
///
/// The rows of a block share its chunks' entries, dictionaries and decompressed bytes, so each of these is found once. The next
/// block uses the same memory.
///
/// Safe to use, because nothing outside of the buffers is read. Unchecked, because one thread at a time uses it.
@safe final class BlockCut: @unchecked Sendable {
  // Used row by row, so no access may cost a run-time exclusivity check. There are no overlapping accesses.
  /// The chunk of the keys, then those of the columns; as many as the block has, and perhaps more from another one.
  @safe @exclusivity(unchecked) private(set) var chunks: [CutChunk] = []
  /// Whether the chunks are those of the block that is being cut.
  @safe @exclusivity(unchecked) var isPrepared = false
  @exclusivity(unchecked) var writer = RowWriter(capacity: 256)
  /// The numbers of the columns that are cut out; `nil` for all.
  private let columns: [UInt16]?
  /// The row that was cut out last.
  @safe @exclusivity(unchecked) private var last = PackedRows()

  init(_ columns: [UInt16]? = nil) { self.columns = columns }

  /// Whether a column is cut out.
  func wants(_ column: UInt16) -> Bool { columns?.contains(column) ?? true }

  /// Makes room for the chunks of a block.
  func reserve(_ count: Int) { while chunks.count < count { chunks.append(CutChunk()) } }

  /// Takes the row that was written.
  func takeRow(_ range: Range<Int>, key: UInt64, _ schema: PackSchema) -> PackedRows {
    // The caller before this one may still read the last row.
    if !isKnownUniquelyReferenced(&last) { last = PackedRows() }
    unsafe last.fill(with: writer.bytes.extracting(range), key: key, schema)
    return last
  }

  /// The memory that is held, in bytes.
  var memoryByteCount: Int {
    chunks.reduce(last.memoryByteCount) { $0 + $1.memoryByteCount }
  }
}

/// A chunk of a block that rows are cut out of.
@safe final class CutChunk {
  @safe @exclusivity(unchecked) private(set) var entry = ChunkEntry.absent
  /// The offset of the chunk in the block.
  @safe @exclusivity(unchecked) private(set) var start = 0
  /// Whether the chunk is read; the values of any other are null in rows that are cut out.
  @safe @exclusivity(unchecked) var isWanted = true
  /// The dictionary of the column, if the chunk contains codes.
  @safe @exclusivity(unchecked) private(set) var dictionary: PackDictionary?
  /// The first bytes of a chunk that is compressed with LZ4.
  @exclusivity(unchecked) private var unpacked = ByteBuffer(capacity: 64)

  func begin(_ entry: ChunkEntry, at start: Int, _ dictionary: PackDictionary?) {
    self.entry = entry
    self.start = start
    self.dictionary = dictionary
    unsafe unpacked.removeAll()
  }

  /// The bytes that are decompressed so far.
  var unpackedBytes: RawSpan {
    @_lifetime(borrow self) get {
      unsafe _overrideLifetime(unpacked.bytes, borrowing: self)
    }
  }

  /// Decompresses the first bytes of a chunk of LZ4, or all of them if there are no more.
  ///
  /// - Parameters:
  ///   - end: The number of bytes.
  ///   - stored: The chunk's bytes as in the file.
  /// - Throws: ``LZ4/Failure`` if the bytes are not LZ4.
  func unpack(upTo end: Int, _ stored: RawSpan) throws(LZ4.Failure) {
    let needed = min(end, entry.rawByteCount)
    if unsafe unpacked.count >= needed { return }
    unsafe unpacked.removeAll()
    // A value is read in steps: a few more bytes save the next call.
    let count = min(entry.rawByteCount, needed + 64)
    try unsafe LZ4.decompressPrefix(stored, count: count, into: &unpacked)
  }

  var memoryByteCount: Int { unsafe unpacked.capacity + 128 }
}

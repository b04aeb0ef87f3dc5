import RowFormat

/// The bytes before the chunks of a block, on a boundary of eight; integers are little-endian.
///
///     offset  size  field
///          0     4  magic           "PBK1"
///          4     4  headerChecksum  CRC-32C of the header from byte 8 on, from the ``FrameSeed`` of this
///                                   place
///          8     4  byteCount       of the block: header, chunks, zeros up to a multiple of eight
///         12     4  rowCount
///         16     2  table
///         18     2  layout          ``LayoutNumber`` of all rows
///         20     2  columnCount
///         22     2  zero
///         24     8  firstKey
///         32     8  lastKey
///         40    20  entry of the keys' chunk, then one for each column, in the layout's order:
///            0   4  end             of the stored chunk, from the start of the block; the first begins at
///                                   the end of the header, each other at the end of the one before it
///            4   4  rawByteCount    of the chunk, uncompressed
///            8   4  checksum        CRC-32C of the stored bytes
///           12   4  rawChecksum     CRC-32C of the uncompressed bytes
///           16   1  encoding        ``ColumnEncoding``
///           17   1  codec           ``ChunkCodec``
///           18   1  flags           bit 0: the chunk begins with a bitmap of null rows
///           19   1  zero
///
/// The chunks' checksums need no seed of their own, since the header vouches for them. The uncompressed bytes have one, too: it
/// checks LZ4's decompressor.
struct PackBlockHeader: Hashable {
  var byteCount: Int
  var rowCount: Int
  var table: UInt16
  var layout: LayoutNumber
  var columnCount: Int
  var firstKey: UInt64
  var lastKey: UInt64

  static let magic: UInt32 = 0x314B_4250
  static let fixedByteCount = 40

  /// Returns the size of the header before the first chunk, in bytes.
  static func byteCount(columns: Int) -> Int {
    fixedByteCount + (columns + 1) * ChunkEntry.byteCount
  }
}

/// The entry of a chunk in a block's header.
struct ChunkEntry: Hashable {
  var end: Int
  var rawByteCount: Int
  var checksum: UInt32
  var rawChecksum: UInt32
  var encoding: ColumnEncoding
  var codec: ChunkCodec
  var hasNulls: Bool

  static let byteCount = 20

  /// The entry of a chunk without bytes.
  static let absent = ChunkEntry(
    end: 0,
    rawByteCount: 0,
    checksum: 0,
    rawChecksum: 0,
    encoding: .absent,
    codec: .stored,
    hasNulls: false
  )
}

// MARK: Codec

extension PackBlockHeader {
  /// Fills in a header in the room left for it.
  ///
  /// - Parameters:
  ///   - start: The offset of the block in the buffer.
  ///   - entries: The entries of the keys' chunk and the columns' chunks.
  ///   - seed: The seed of the block's place in the file.
  ///   - buffer: The buffer that holds the block.
  func store(at start: Int, _ entries: [ChunkEntry], seed: UInt32, in buffer: inout ByteBuffer) {
    buffer.store(PackBlockHeader.magic, at: start)
    buffer.store(UInt32(byteCount), at: start + 8)
    buffer.store(UInt32(rowCount), at: start + 12)
    buffer.store(table, at: start + 16)
    buffer.store(layout.rawValue, at: start + 18)
    buffer.store(UInt16(columnCount), at: start + 20)
    buffer.store(firstKey, at: start + 24)
    buffer.store(lastKey, at: start + 32)
    for (index, entry) in entries.enumerated() {
      let at = start + PackBlockHeader.fixedByteCount + index * ChunkEntry.byteCount
      buffer.store(UInt32(entry.end), at: at)
      buffer.store(UInt32(entry.rawByteCount), at: at + 4)
      buffer.store(entry.checksum, at: at + 8)
      buffer.store(entry.rawChecksum, at: at + 12)
      buffer.store(entry.encoding.rawValue, at: at + 16)
      buffer.store(entry.codec.rawValue, at: at + 17)
      buffer.store(entry.hasNulls ? 1 as UInt8 : 0, at: at + 18)
    }
    let end = start + PackBlockHeader.byteCount(columns: columnCount)
    let checksum = CRC32C.extend(seed, over: buffer.bytes.extracting((start + 8)..<end))
    buffer.store(checksum, at: start + 4)
  }

  /// Reads the header at the start of a block; `nil` if there is no such header.
  ///
  /// - Parameters:
  ///   - bytes: The block.
  ///   - columnCount: The number of columns in the block's layout.
  ///   - seed: The seed of the block's place in the file.
  init?(decoding bytes: RawSpan, columnCount: Int, seed: UInt32) {
    let headerEnd = PackBlockHeader.byteCount(columns: columnCount)
    guard bytes.byteCount >= headerEnd, bytes.load(UInt32.self, at: 0) == PackBlockHeader.magic,
      CRC32C.extend(seed, over: bytes.extracting(8..<headerEnd)) == bytes.load(UInt32.self, at: 4)
    else { return nil }
    byteCount = Int(bytes.load(UInt32.self, at: 8))
    rowCount = Int(bytes.load(UInt32.self, at: 12))
    table = bytes.load(UInt16.self, at: 16)
    layout = LayoutNumber(bytes.load(UInt16.self, at: 18))
    self.columnCount = Int(bytes.load(UInt16.self, at: 20))
    firstKey = bytes.load(UInt64.self, at: 24)
    lastKey = bytes.load(UInt64.self, at: 32)
  }
}

extension ChunkEntry {
  /// Reads the entry of a chunk from a block with a checked header.
  ///
  /// - Parameters:
  ///   - block: The block's bytes.
  ///   - index: 0 for the keys, 1 for the first column.
  ///   - columnCount: The number of columns.
  /// - Returns: The entry, and the offset at which the chunk begins; `nil` if they are invalid.
  @inline(__always)
  static func read(
    _ block: RawSpan,
    _ index: Int,
    columnCount: Int
  ) -> (entry: ChunkEntry, start: Int)? {
    let at = PackBlockHeader.fixedByteCount + index * byteCount
    let start =
      index == 0
      ? PackBlockHeader.byteCount(columns: columnCount)
      : Int(block.load(UInt32.self, at: at - byteCount))
    let end = Int(block.load(UInt32.self, at: at))
    guard let encoding = ColumnEncoding(rawValue: block.load(UInt8.self, at: at + 16)),
      let codec = ChunkCodec(rawValue: block.load(UInt8.self, at: at + 17)),
      start <= end, end <= block.byteCount
    else { return nil }
    let entry = ChunkEntry(
      end: end,
      rawByteCount: Int(block.load(UInt32.self, at: at + 4)),
      checksum: block.load(UInt32.self, at: at + 8),
      rawChecksum: block.load(UInt32.self, at: at + 12),
      encoding: encoding,
      codec: codec,
      hasNulls: block.load(UInt8.self, at: at + 18) & 1 == 1
    )
    return (entry, start)
  }
}

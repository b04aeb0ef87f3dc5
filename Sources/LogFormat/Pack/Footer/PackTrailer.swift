import RowFormat

/// The last 64 bytes of a pack; integers are little-endian.
///
///     offset  size  field
///          0     8  magic             "PACKEND1"
///          8     8  footerOffset
///         16     4  footerByteCount   as stored: the footer ends where the trailer begins
///         20     4  footerRawByteCount
///         24     4  footerChecksum    CRC-32C of the stored bytes
///         28     4  footerRawChecksum CRC-32C of the uncompressed bytes
///         32     8  rowCount          of all blocks
///         40     8  fileByteCount     trailer included
///         48     4  blockCount
///         52     1  footerCodec       ``ChunkCodec``
///         53     7  zero
///         60     4  checksum          CRC-32C of bytes 0 ..< 60, from the ``FrameSeed`` of this place
struct PackTrailer: Hashable {
  var footerOffset: Int
  var footerByteCount: Int
  var footerRawByteCount: Int
  var footerChecksum: UInt32
  var footerRawChecksum: UInt32
  var rowCount: Int
  var fileByteCount: Int
  var blockCount: Int
  var footerCodec: ChunkCodec

  static let byteCount = 64
  static let magic: UInt64 = 0x3144_4E45_4B43_4150

  func encode(seed: UInt32, into buffer: inout ByteBuffer) {
    let start = buffer.count
    buffer.append(PackTrailer.magic)
    buffer.append(UInt64(footerOffset))
    buffer.append(UInt32(footerByteCount))
    buffer.append(UInt32(footerRawByteCount))
    buffer.append(footerChecksum)
    buffer.append(footerRawChecksum)
    buffer.append(UInt64(rowCount))
    buffer.append(UInt64(fileByteCount))
    buffer.append(UInt32(blockCount))
    buffer.append(footerCodec.rawValue)
    buffer.appendZeros(7)
    buffer.append(CRC32C.extend(seed, over: buffer.bytes.extracting(start..<buffer.count)))
  }

  init(
    decoding bytes: RawSpan,
    seed: UInt32,
    fileByteCount: Int,
    path: String
  ) throws(StorageError) {
    let offset = fileByteCount - PackTrailer.byteCount
    func damage(_ problem: Corruption.Problem, _ field: Int = 0) -> StorageError {
      .corruption(Corruption(path: path, offset: offset + field, problem: problem))
    }
    let expected = CRC32C.extend(seed, over: bytes.extracting(0..<60))
    let found = bytes.load(UInt32.self, at: 60)
    guard bytes.load(UInt64.self, at: 0) == PackTrailer.magic, expected == found else {
      throw damage(.checksumMismatch(of: .packTrailer, expected: expected, found: found))
    }
    let size = bytes.load(UInt64.self, at: 40)
    guard size == UInt64(fileByteCount) else {
      throw damage(
        .invalidField(
          of: .packTrailer,
          name: "fileByteCount",
          expected: UInt64(fileByteCount),
          found: size
        ),
        40
      )
    }
    let footerOffset = bytes.load(UInt64.self, at: 8)
    let footerByteCount = bytes.load(UInt32.self, at: 16)
    guard footerByteCount <= offset, footerOffset == UInt64(offset) - UInt64(footerByteCount),
      footerOffset >= UInt64(FileHeader.byteCount)
    else {
      throw damage(
        .invalidField(
          of: .packTrailer,
          name: "footerOffset",
          expected: UInt64(clamping: offset - Int(footerByteCount)),
          found: footerOffset
        ),
        8
      )
    }
    let codec = bytes.load(UInt8.self, at: 52)
    guard let codec = ChunkCodec(rawValue: codec) else {
      throw damage(
        .invalidField(of: .packTrailer, name: "footerCodec", expected: 1, found: UInt64(codec)),
        52
      )
    }
    let rawByteCount = Int(bytes.load(UInt32.self, at: 20))
    let limit = PackFormat.footerLimit(storedByteCount: Int(footerByteCount))
    guard codec == .stored ? rawByteCount == Int(footerByteCount) : rawByteCount <= limit else {
      throw damage(
        .invalidField(
          of: .packTrailer,
          name: "footerRawByteCount",
          expected: UInt64(clamping: limit),
          found: UInt64(rawByteCount)
        ),
        20
      )
    }
    self.footerOffset = Int(footerOffset)
    self.footerByteCount = Int(footerByteCount)
    footerRawByteCount = rawByteCount
    footerChecksum = bytes.load(UInt32.self, at: 24)
    footerRawChecksum = bytes.load(UInt32.self, at: 28)
    rowCount = Int(truncatingIfNeeded: bytes.load(UInt64.self, at: 32))
    self.fileByteCount = fileByteCount
    blockCount = Int(bytes.load(UInt32.self, at: 48))
    footerCodec = codec
  }

  init(
    footerOffset: Int,
    footerByteCount: Int,
    footerRawByteCount: Int,
    footerChecksum: UInt32,
    footerRawChecksum: UInt32,
    rowCount: Int,
    fileByteCount: Int,
    blockCount: Int,
    footerCodec: ChunkCodec
  ) {
    self.footerOffset = footerOffset
    self.footerByteCount = footerByteCount
    self.footerRawByteCount = footerRawByteCount
    self.footerChecksum = footerChecksum
    self.footerRawChecksum = footerRawChecksum
    self.rowCount = rowCount
    self.fileByteCount = fileByteCount
    self.blockCount = blockCount
    self.footerCodec = footerCodec
  }
}

import RowFormat

/// The first 4,096 bytes of a segment; integers are little-endian.
///
///     offset  size  field
///          0     8  magic            8B 53 44 4C 0D 0A 1A 0A
///          8     2  formatMajor      a reader that knows only lower ones rejects the file
///         10     2  formatMinor      ignored by a reader
///         12     4  headerSize       4,096
///         16     8  incompatible     feature bits; a reader rejects unknown ones
///         24     8  compatible       feature bits; a reader ignores unknown ones
///         32    16  store            ``StoreIdentifier``
///         48     8  segment          ``SegmentID``
///         56     8  salt             random: distinguishes this use of the file from earlier ones
///         64     8  firstSequence    of the first commit that may be here
///         72     8  logPosition      of the first frame, counted over all segments
///         80     8  previousSegment  0 for the first
///         88     8  previousEnd      the end of the log in it: the rest of it is dead
///         96     8  previousSequence of the last commit in it
///        104     4  previousChain    the header checksum of the last frame in it
///        108     4  epoch            the number of openings for writing
///        112     8  created          microseconds since 1970
///        120  3972  zero
///       4092     4  checksum         CRC-32C of bytes 0 ..< 4092
///
/// Each segment names its predecessor's end, so that a log with a lost segment cannot look like a shorter log.
@usableFromInline package struct SegmentHeader: Hashable, Sendable {
  package var store: StoreIdentifier
  package var segment: SegmentID
  package var salt: UInt64
  package var firstSequence: CommitSequence
  package var logPosition: UInt64
  package var previousSegment: SegmentID
  package var previousEnd: Int
  package var previousSequence: CommitSequence
  package var previousChain: UInt32
  package var epoch: UInt32
  package var created: Int64

  package init(
    store: StoreIdentifier,
    segment: SegmentID,
    salt: UInt64,
    firstSequence: CommitSequence,
    logPosition: UInt64,
    previousSegment: SegmentID,
    previousEnd: Int,
    previousSequence: CommitSequence,
    previousChain: UInt32,
    epoch: UInt32,
    created: Int64
  ) {
    self.store = store
    self.segment = segment
    self.salt = salt
    self.firstSequence = firstSequence
    self.logPosition = logPosition
    self.previousSegment = previousSegment
    self.previousEnd = previousEnd
    self.previousSequence = previousSequence
    self.previousChain = previousChain
    self.epoch = epoch
    self.created = created
  }

  @inlinable package static var byteCount: Int { 4096 }
  @inlinable package static var magic: UInt64 { 0x0A1A_0A0D_4C44_538B }

  package var seed: FrameSeed {
    FrameSeed(store: store, file: UInt64(segment.rawValue), salt: salt)
  }
}

// MARK: Codec

extension SegmentHeader {
  package func encode(into buffer: inout ByteBuffer) {
    let start = buffer.count
    buffer.append(SegmentHeader.magic)
    buffer.append(FormatVersion.major)
    buffer.append(FormatVersion.minor)
    buffer.append(UInt32(SegmentHeader.byteCount))
    buffer.append(0 as UInt64)
    buffer.append(0 as UInt64)
    store.encode(into: &buffer)
    buffer.append(UInt64(segment.rawValue))
    buffer.append(salt)
    buffer.append(firstSequence.rawValue)
    buffer.append(logPosition)
    buffer.append(UInt64(previousSegment.rawValue))
    buffer.append(UInt64(previousEnd))
    buffer.append(previousSequence.rawValue)
    buffer.append(previousChain)
    buffer.append(epoch)
    buffer.append(created)
    BlockHeader.seal(from: start, in: &buffer)
  }

  /// Reads a header.
  ///
  /// - Throws: ``StorageError`` naming `path` if the bytes are not a header that this code can read.
  package init(decoding bytes: RawSpan, path: String) throws(StorageError) {
    try BlockHeader.check(bytes, magic: SegmentHeader.magic, part: .segmentHeader, path: path)
    store = StoreIdentifier(decoding: bytes, at: 32)
    segment = try SegmentID(checking: bytes.load(UInt64.self, at: 48), path: path, offset: 48)
    salt = bytes.load(UInt64.self, at: 56)
    firstSequence = CommitSequence(try Self.counter("firstSequence", at: 64, in: bytes, path))
    logPosition = try Self.counter("logPosition", at: 72, in: bytes, path)
    previousSegment = try SegmentID(
      checking: bytes.load(UInt64.self, at: 80),
      path: path,
      offset: 80
    )
    previousEnd = Int(truncatingIfNeeded: bytes.load(UInt64.self, at: 88))
    previousSequence = CommitSequence(try Self.counter("previousSequence", at: 96, in: bytes, path))
    previousChain = bytes.load(UInt32.self, at: 104)
    epoch = bytes.load(UInt32.self, at: 108)
    created = Int64(bitPattern: bytes.load(UInt64.self, at: 112))
  }

  private static func counter(
    _ name: String,
    at offset: Int,
    in bytes: RawSpan,
    _ path: String
  ) throws(StorageError) -> UInt64 {
    let number = bytes.load(UInt64.self, at: offset)
    guard number <= NumberLimit.readable else {
      let problem = Corruption.Problem.invalidField(
        of: .segmentHeader,
        name: name,
        expected: NumberLimit.readable,
        found: number
      )
      throw .corruption(Corruption(path: path, offset: offset, problem: problem))
    }
    return number
  }
}

extension SegmentID {
  /// Creates a number from its value in a file.
  package init(checking value: UInt64, path: String, offset: Int) throws(StorageError) {
    guard value <= UInt64(SegmentID.maximum.rawValue) else {
      let problem = Corruption.Problem.invalidField(
        of: .segmentHeader,
        name: "segment",
        expected: UInt64(SegmentID.maximum.rawValue),
        found: value
      )
      throw .corruption(Corruption(path: path, offset: offset, problem: problem))
    }
    self.init(rawValue: UInt32(value))
  }
}

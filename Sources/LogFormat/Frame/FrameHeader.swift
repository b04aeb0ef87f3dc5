import RowFormat

/// The forty bytes before a frame's payload, on a boundary of eight; integers are little-endian.
///
///     offset  size  field
///          0     4  magic          "FRM1"
///          4     4  headerChecksum CRC-32C of bytes 8 ..< 40, from the ``FrameSeed`` of this place
///          8     4  payloadLength  a multiple of eight
///         12     1  kind           ``FrameKind``
///         13     1  flags          zero; bit 0 is kept for a compressed payload, bit 1 for blobs
///         14     2  zero
///         16     8  sequence       the commit's number; of the last commit, in a frame without one
///         24     8  durableEnd     log position known to be on disk when this frame was built
///         32     4  payloadChecksum CRC-32C of the payload
///         36     4  chain          the header checksum of the frame before this one
///
/// The length is trusted only after the header's checksum, which is valid only for this store, segment and offset: a frame that
/// was duplicated, misplaced or left from an earlier use of the file does not pass. The payload's checksum needs no seed of its
/// own, since the header vouches for it.
@usableFromInline package struct FrameHeader: Hashable {
  @usableFromInline package var payloadLength: Int
  @usableFromInline package var kind: FrameKind
  @usableFromInline package var flags: UInt8 = 0
  @usableFromInline package var sequence: CommitSequence
  @usableFromInline package var durableEnd: UInt64
  @usableFromInline package var payloadChecksum: UInt32
  @usableFromInline package var chain: UInt32
  @usableFromInline package var headerChecksum: UInt32 = 0

  @inlinable package init(
    payloadLength: Int,
    kind: FrameKind,
    flags: UInt8 = 0,
    sequence: CommitSequence,
    durableEnd: UInt64,
    payloadChecksum: UInt32,
    chain: UInt32,
    headerChecksum: UInt32 = 0
  ) {
    self.payloadLength = payloadLength
    self.kind = kind
    self.flags = flags
    self.sequence = sequence
    self.durableEnd = durableEnd
    self.payloadChecksum = payloadChecksum
    self.chain = chain
    self.headerChecksum = headerChecksum
  }

  @inlinable package static var byteCount: Int { 40 }
  @inlinable package static var magic: UInt32 { 0x314D_5246 }
  /// Target size at which commits are split, in bytes; a single record may need more.
  @inlinable package static var payloadTarget: Int { 16 << 20 }
  /// Limit of a payload, in bytes.
  @inlinable package static var payloadLimit: Int { 0x7FFF_FFF8 }

  /// The size of header and payload, in bytes.
  @inlinable package var totalByteCount: Int { FrameHeader.byteCount &+ payloadLength }
}

/// The seed of the checksums of a segment's frame headers: it identifies the store, the segment, the use of the file, and the
/// offset in it.
@usableFromInline package struct FrameSeed: Hashable, Sendable {
  @usableFromInline let base: UInt32

  package init(store: StoreIdentifier, file: UInt64, salt: UInt64) {
    var checksum = CRC32C.extend(0, over: store.low)
    checksum = CRC32C.extend(checksum, over: store.high)
    checksum = CRC32C.extend(checksum, over: file)
    base = CRC32C.extend(checksum, over: salt)
  }

  /// The seed of a frame at an offset of the file.
  @inlinable @inline(__always) package func at(_ offset: Int) -> UInt32 {
    CRC32C.extend(base, over: UInt64(truncatingIfNeeded: offset))
  }
}

// MARK: Codec

extension FrameHeader {
  /// Reads the header at the start of `bytes`; `nil` if there is no header for this place.
  @inlinable package init?(decoding bytes: RawSpan, seed: UInt32) {
    guard bytes.byteCount >= FrameHeader.byteCount,
      bytes.load(UInt32.self, at: 0) == FrameHeader.magic
    else { return nil }
    headerChecksum = bytes.load(UInt32.self, at: 4)
    guard CRC32C.extend(seed, over: bytes.extracting(8..<40)) == headerChecksum,
      let kind = FrameKind(rawValue: bytes.load(UInt8.self, at: 12))
    else { return nil }
    payloadLength = Int(bytes.load(UInt32.self, at: 8))
    self.kind = kind
    flags = bytes.load(UInt8.self, at: 13)
    sequence = CommitSequence(bytes.load(UInt64.self, at: 16))
    durableEnd = bytes.load(UInt64.self, at: 24)
    payloadChecksum = bytes.load(UInt32.self, at: 32)
    chain = bytes.load(UInt32.self, at: 36)
    guard payloadLength & 7 == 0, payloadLength <= FrameHeader.payloadLimit else { return nil }
  }
}

extension ByteBuffer {
  /// Appends a frame's header.
  ///
  /// - Returns: The header's checksum, which the next frame chains to.
  @discardableResult
  package mutating func append(_ header: FrameHeader, seed: UInt32) -> UInt32 {
    let start = count
    append(FrameHeader.magic)
    append(0 as UInt32)
    append(UInt32(truncatingIfNeeded: header.payloadLength))
    append(UInt32(header.kind.rawValue) | UInt32(header.flags) << 8)
    append(header.sequence.rawValue)
    append(header.durableEnd)
    append(header.payloadChecksum)
    append(header.chain)
    return sealFrameHeader(at: start, seed: seed)
  }

  /// Fills in the fields of a frame that do not depend on its place in the log.
  ///
  /// - Parameters:
  ///   - start: The offset of the frame; its payload follows the header.
  ///   - kind: The kind of the frame.
  ///   - payload: The range of the payload in this buffer.
  package mutating func fillFrame(at start: Int, kind: FrameKind, payload: Range<Int>) {
    let checksum = CRC32C.extend(0, over: bytes.extracting(payload))
    store(FrameHeader.magic, at: start)
    store(UInt32(truncatingIfNeeded: payload.count), at: start &+ 8)
    store(UInt32(kind.rawValue), at: start &+ 12)
    store(checksum, at: start &+ 32)
  }

  /// Fills in the fields that depend on a frame's place in the log; the others are already there.
  ///
  /// - Returns: The header's checksum.
  @inlinable @inline(__always)
  package mutating func placeFrame(
    at start: Int,
    sequence: UInt64,
    durableEnd: UInt64,
    chain: UInt32,
    seed: UInt32
  ) -> UInt32 {
    store(sequence, at: start &+ 16)
    store(durableEnd, at: start &+ 24)
    store(chain, at: start &+ 36)
    return sealFrameHeader(at: start, seed: seed)
  }

  @inline(__always)
  @usableFromInline mutating func sealFrameHeader(at start: Int, seed: UInt32) -> UInt32 {
    let checksum = CRC32C.extend(
      seed,
      over: bytes.extracting((start &+ 8)..<(start &+ FrameHeader.byteCount))
    )
    store(checksum, at: start &+ 4)
    return checksum
  }
}

import RowFormat

/// The header before the body of a record; integers are little-endian.
///
///     offset  size  field
///          0     1  kind        ``RecordKind``
///          1     1  depth       number of deltas between this record and a whole row
///          2     2  table       0 for a catalogue record
///          4     4  length      of the body
///          8     6  key         0 for a catalogue record
///         14     2  layout      of the row, or of the row a delta is applied to
///         16     3  distance    from the frame's header to this record, in units of eight bytes
///         19     1  load        the size of the chain's deltas: 255ths of the whole row, rounded up
///         20     4  checksum    CRC-32C of bytes 0 ..< 20 and of everything from 24 on
///         24     8  previous    ``RecordPlace`` of the row's previous record;
///                               only in a delta, a delete and a full image
///
/// The body follows, and zeros up to the next multiple of eight. Every record has its own checksum because it is read by
/// itself, long after its frame was checked as a whole.
@usableFromInline package struct RecordHeader {
  @usableFromInline package var kind: RecordKind
  @usableFromInline package var depth: UInt8
  @usableFromInline package var table: UInt16
  @usableFromInline package var bodyLength: Int
  @usableFromInline package var key: UInt64
  @usableFromInline package var layout: LayoutNumber
  @usableFromInline package var distance: Int
  @usableFromInline package var load: UInt8
  @usableFromInline package var checksum: UInt32
  @usableFromInline package var previous: RecordPlace

  @inlinable package init(
    kind: RecordKind,
    depth: UInt8,
    table: UInt16,
    bodyLength: Int,
    key: UInt64,
    layout: LayoutNumber,
    distance: Int,
    load: UInt8,
    checksum: UInt32,
    previous: RecordPlace
  ) {
    self.kind = kind
    self.depth = depth
    self.table = table
    self.bodyLength = bodyLength
    self.key = key
    self.layout = layout
    self.distance = distance
    self.load = load
    self.checksum = checksum
    self.previous = previous
  }

  /// The size of the header of a record without a predecessor, in bytes.
  @inlinable package static var shortByteCount: Int { 24 }
  /// The size of the header of a record with a predecessor, in bytes.
  @inlinable package static var longByteCount: Int { 32 }
  /// Limit of the distance, exclusive.
  static let distanceLimit = 8 << 24
  /// Limit of a body, in bytes.
  @inlinable package static var bodyLimit: Int { 1 << 30 }

  @inlinable @inline(__always) package var byteCount: Int {
    kind.hasPrevious ? RecordHeader.longByteCount : RecordHeader.shortByteCount
  }
  /// The size of header, body and padding, in bytes.
  @inlinable @inline(__always) package var totalByteCount: Int {
    (byteCount &+ bodyLength &+ 7) & ~7
  }
  @inlinable @inline(__always) package var reference: RowReference {
    RowReference(table: table, key: key)
  }

  /// Whether the row's previous record is before this one, given this one's place.
  ///
  /// Requiring this keeps a reader of a damaged or forged row from following its records in a circle.
  @inlinable @inline(__always) package func leadsBack(from place: RecordPlace) -> Bool {
    previous.isPacked || previous.rawValue < place.rawValue
  }

  /// The range of the body, from the start of the record.
  @inlinable @inline(__always) package var bodyRange: Range<Int> {
    byteCount..<(byteCount &+ bodyLength)
  }
}

// MARK: Codec

extension RecordHeader {
  /// Reads a header; `nil` if the bytes are not a header, or are too few for the record.
  @inlinable @inline(__always)
  package init?(decoding bytes: RawSpan) {
    guard bytes.byteCount >= RecordHeader.shortByteCount else { return nil }
    self.init(decodingUnbounded: bytes)
    guard totalByteCount <= bytes.byteCount else { return nil }
  }

  /// Reads a header from bytes that need not include the whole record: as many as the header has, or 32.
  @inlinable @inline(__always)
  package init?(decodingUnbounded bytes: RawSpan) {
    let first = bytes.load(UInt64.self, at: 0)
    let second = bytes.load(UInt64.self, at: 8)
    let third = bytes.load(UInt64.self, at: 16)
    guard let kind = RecordKind(rawValue: UInt8(truncatingIfNeeded: first)) else { return nil }
    self.kind = kind
    depth = UInt8(truncatingIfNeeded: first >> 8)
    table = UInt16(truncatingIfNeeded: first >> 16)
    bodyLength = Int(first >> 32)
    key = second & ((1 << 48) - 1)
    layout = LayoutNumber(UInt16(truncatingIfNeeded: second >> 48))
    distance = Int(third & 0xFF_FFFF) << 3
    load = UInt8(truncatingIfNeeded: third >> 24)
    checksum = UInt32(truncatingIfNeeded: third >> 32)
    previous = .none
    if kind.hasPrevious {
      guard bytes.byteCount >= RecordHeader.longByteCount else { return nil }
      previous = RecordPlace(rawValue: bytes.load(UInt64.self, at: 24))
    }
  }

  /// Appends a header whose length and checksum are filled in by ``seal(at:bodyLength:in:)``.
  @inlinable @inline(__always)
  package func encode(into buffer: inout ByteBuffer) {
    buffer.reserve(RecordHeader.longByteCount)
    buffer.append(UInt64(kind.rawValue) | UInt64(depth) << 8 | UInt64(table) << 16)
    buffer.append(key | UInt64(layout.rawValue) << 48)
    buffer.append(UInt64(distance >> 3) | UInt64(load) << 24)
    if kind.hasPrevious { buffer.append(previous.rawValue) }
  }

  /// Changes the load of a record with a written header that is not sealed yet.
  @inlinable @inline(__always)
  package static func setLoad(_ load: UInt8, ofRecordAt start: Int, in buffer: inout ByteBuffer) {
    buffer.store(load, at: start &+ 19)
  }

  /// Ends the record that starts at `start`: pads it, and writes length, load and checksum.
  @inlinable @inline(__always)
  package static func seal(at start: Int, bodyLength: Int, in buffer: inout ByteBuffer) {
    buffer.store(UInt32(truncatingIfNeeded: bodyLength), at: start &+ 4)
    let checksum = checksum(of: buffer.bytes.extracting(start..<buffer.count))
    buffer.store(checksum, at: start &+ 20)
    let padding = -buffer.count & 7
    if padding > 0 { buffer.appendZeros(padding) }
  }

  /// Returns the checksum of a record, over its bytes up to the end of its body.
  @inlinable @inline(__always)
  package static func checksum(of record: RawSpan) -> UInt32 {
    let head = CRC32C.extend(0, over: record.extracting(0..<20))
    return CRC32C.extend(head, over: record.extracting(24..<record.byteCount))
  }

  /// Whether the bytes, which start with this header, match the header's checksum.
  @inlinable @inline(__always)
  package func isIntact(in bytes: RawSpan) -> Bool { foundChecksum(in: bytes) == checksum }

  /// The checksum of the bytes, which start with this header.
  @inlinable @inline(__always)
  package func foundChecksum(in bytes: RawSpan) -> UInt32 {
    RecordHeader.checksum(of: bytes.extracting(0..<(byteCount &+ bodyLength)))
  }
}

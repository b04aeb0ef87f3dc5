import LogFormat
import RowFormat
package import Synchronization

/// One file of the log, open for reading.
///
/// Bytes before ``readableEnd`` do not change any more; they are read through a mapping where the
/// file system offers one, and by copying otherwise.
@safe package final class Segment: Sendable {
  let header: SegmentHeader
  package let path: String
  package let file: any OpenFile
  /// The size of the file, or the size it is about to get.
  package let capacity: Int
  let seed: FrameSeed
  private let mapping: MappedFile?
  /// The mapping's first byte: a read done for every row is not worth a counted object.
  private nonisolated(unsafe) let base: UnsafeRawPointer?
  /// The end of the written bytes; bytes beyond it must not be read through the mapping.
  package let readableEnd: Atomic<Int>

  package var id: SegmentID { header.segment }

  /// Opens a segment.
  ///
  /// - Parameters:
  ///   - header: The header decoded from the file's first bytes.
  ///   - file: The file.
  ///   - capacity: The number of bytes that can be mapped.
  ///   - readableEnd: The end of the written bytes.
  ///   - reads: Whether to map it.
  /// - Throws: ``StorageError/inputOutput(path:operation:errno:)`` if it cannot be mapped.
  package init(
    header: SegmentHeader,
    file: any OpenFile,
    capacity: Int,
    readableEnd: Int,
    reads: EngineOptions.ReadMethod
  ) throws(StorageError) {
    self.header = header
    self.file = file
    self.capacity = capacity
    path = file.path
    seed = header.seed
    self.readableEnd = Atomic(readableEnd)
    mapping = reads == .mapped ? try file.map(capacity, .sharedReadOnly) : nil
    unsafe base = mapping.flatMap { unsafe UnsafeRawPointer($0.base) }
  }

  /// Gives back the file, if the bytes can be read without it; nothing is written to it any more.
  func closeFile() { if mapping != nil { file.close() } }

  /// Announces the order in which the bytes will be read.
  package func expect(_ pattern: AccessPattern) { mapping?.expect(pattern) }

  /// Returns the log position of an offset.
  package func logPosition(of offset: Int) -> UInt64 {
    header.logPosition + UInt64(offset - SegmentHeader.byteCount)
  }

  /// Returns the offset of a log position in this segment; the end of the segment if the position is behind it.
  func offset(of logPosition: UInt64) -> Int {
    min(Int(clamping: logPosition - header.logPosition), capacity - SegmentHeader.byteCount)
      + SegmentHeader.byteCount
  }

  /// Rewrites bytes that are in the file already, because the system may have forgotten to write them to the disk.
  ///
  /// - Throws: ``StorageError`` if they cannot be read or written.
  func writeAgain(from start: Int, to end: Int, in file: any OpenFile) throws(StorageError) {
    var offset = start
    while offset < end {
      let bytes = try self.file.readBytes(min(1 << 20, end - offset), at: offset)
      guard bytes.count > 0 else { throw corruption(at: offset, .missing(.frame)) }
      try bytes.write(to: file, at: offset)
      offset += bytes.count
    }
  }

  /// Lends the bytes of a range of the file.
  ///
  /// Beyond ``readableEnd`` they are copied: another process may cut the file off there at any time,
  /// and a mapping then answers with a signal.
  @inline(__always)
  func withBytes<R>(_ range: Range<Int>, _ body: (RawSpan) throws -> R) throws -> R {
    if let mapping, range.upperBound <= readableEnd.load(ordering: .acquiring) {
      return try mapping.withBytes { try body($0.extracting(range)) }
    }
    return try withCopy(of: range, body)
  }

  /// Returns the header of the frame at the end of the preceding valid frames; `nil` if there is none.
  ///
  /// The page of the last valid byte stays in the file whatever another process does, so a header in
  /// that page is read through the mapping.
  package func frameHeader(at offset: Int) throws(StorageError) -> FrameHeader? {
    let end = offset + FrameHeader.byteCount
    let isInWrittenPage = offset & 4095 != 0 && (offset & 4095) + FrameHeader.byteCount <= 4096
    if let mapping, end <= capacity,
      isInWrittenPage || end <= readableEnd.load(ordering: .acquiring)
    {
      return mapping.withBytes {
        FrameHeader(decoding: $0.extracting(offset..<end), seed: seed.at(offset))
      }
    }
    let bytes = try file.readBytes(FrameHeader.byteCount, at: offset)
    return FrameHeader(decoding: bytes.bytes, seed: seed.at(offset))
  }

  /// Lends the payload of a frame with a valid header: no process cuts a file off before the end of a frame.
  package func withPayload<R>(_ range: Range<Int>, _ body: (RawSpan) throws -> R) throws -> R {
    if let mapping { return try mapping.withBytes { try body($0.extracting(range)) } }
    return try withCopy(of: range, body)
  }

  /// Lends the available bytes of a range of the file: fewer if another process has cut the file off meanwhile.
  package func withAvailableBytes<R>(_ range: Range<Int>, _ body: (RawSpan) throws -> R) throws -> R
  {
    if mapping != nil, range.upperBound <= readableEnd.load(ordering: .acquiring) {
      return try withBytes(range, body)
    }
    let bytes = try file.readBytes(range.count, at: range.lowerBound)
    return try body(bytes.bytes)
  }

  private func withCopy<R>(of range: Range<Int>, _ body: (RawSpan) throws -> R) throws -> R {
    var buffer = ByteBuffer(capacity: range.count)
    try buffer.append(upTo: range.count) { (room) throws(StorageError) in
      try file.read(into: &room, at: range.lowerBound)
    }
    guard buffer.count == range.count else {
      throw corruption(
        at: range.lowerBound,
        .truncated(.segment, needed: range.upperBound, available: range.lowerBound + buffer.count)
      )
    }
    return try body(buffer.bytes)
  }

  /// Lends a record, from its first byte to the end of its padding, after checking it.
  @inline(__always)
  func withRecord<R>(
    at offset: Int,
    _ body: (RecordHeader, RawSpan) throws -> R
  ) throws -> R {
    let end = readableEnd.load(ordering: .acquiring)
    guard offset >= SegmentHeader.byteCount, offset &+ RecordHeader.shortByteCount <= end else {
      throw corruption(
        at: offset,
        .truncated(.record, needed: offset + RecordHeader.shortByteCount, available: end)
      )
    }
    if let base = unsafe base {
      let bytes = unsafe UnsafeRawBufferPointer(start: base + offset, count: end &- offset).bytes
      return try check(bytes, at: offset, body)
    }
    let length = try withCopy(of: offset..<min(offset + RecordHeader.longByteCount, end)) { bytes in
      guard let header = RecordHeader(decodingUnbounded: bytes) else {
        throw damagedRecord(at: offset)
      }
      return header.totalByteCount
    }
    guard length <= end - offset else { throw damagedRecord(at: offset) }
    return try withCopy(of: offset..<(offset + length)) { try check($0, at: offset, body) }
  }

  @inline(__always)
  private func check<R>(
    _ bytes: RawSpan,
    at offset: Int,
    _ body: (RecordHeader, RawSpan) throws -> R
  ) throws -> R {
    guard let header = RecordHeader(decoding: bytes), header.isIntact(in: bytes) else {
      throw damagedRecord(bytes, at: offset)
    }
    return try body(header, bytes.extracting(0..<header.totalByteCount))
  }

  @inline(never)
  private func damagedRecord(_ bytes: RawSpan, at offset: Int) -> StorageError {
    guard let header = RecordHeader(decoding: bytes) else { return damagedRecord(at: offset) }
    return corruption(
      at: offset,
      .checksumMismatch(
        of: .record,
        expected: header.checksum,
        found: header.foundChecksum(in: bytes)
      )
    )
  }

  /// Returns the commit of a record, from the header of its frame.
  func sequence(ofRecordAt offset: Int, distance: Int) throws -> UInt64 {
    let start = offset - distance
    guard start >= SegmentHeader.byteCount else { throw damagedRecord(at: offset) }
    return try withBytes(start..<(start + FrameHeader.byteCount)) { bytes in
      guard let header = FrameHeader(decoding: bytes, seed: seed.at(start)), header.kind.hasRecords
      else {
        throw corruption(at: start, .missing(.frameHeader))
      }
      return header.sequence.rawValue
    }
  }

  func damagedRecord(at offset: Int) -> StorageError {
    corruption(at: offset, .inconsistent(.record, table: 0, key: 0))
  }

  func corruption(at offset: Int, _ problem: Corruption.Problem) -> StorageError {
    .corruption(Corruption(path: path, offset: offset, problem: problem))
  }
}

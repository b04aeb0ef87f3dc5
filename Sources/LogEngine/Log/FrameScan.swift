import LogFormat
import RowFormat
import Synchronization

/// Reads the frames of a segment one after the other, as long as they are valid.
///
/// A frame is valid if its header's checksum matches its place, it chains to its predecessor, its number follows, it fits, and
/// its payload matches the header's checksum.
struct FrameScan {
  let segment: Segment
  /// The offset of the next frame.
  private(set) var offset: Int
  /// The end of the segment, or the end that its successor declares.
  let limit: Int
  /// The header checksum of the frame before.
  private(set) var chain: UInt32
  /// The last commit with a frame that was read.
  private(set) var sequence: UInt64
  /// The frames of an incomplete commit; empty between commits.
  private(set) var group: [Range<Int>] = []
  /// The end of the last complete commit or frame without records, with its chain and number.
  private(set) var lastComplete: (offset: Int, frame: Int, chain: UInt32, sequence: UInt64)
  /// The greatest log position that a frame witnesses to be on disk.
  private(set) var durableEnd: UInt64 = 0
  /// The kind of the last frame.
  private(set) var lastKind: FrameKind?
  /// The number of complete commits read.
  private(set) var commitCount = 0

  init(_ segment: Segment, from offset: Int, to limit: Int, chain: UInt32, sequence: UInt64) {
    self.segment = segment
    self.offset = offset
    self.limit = limit
    self.chain = chain
    self.sequence = sequence
    lastComplete = (offset, 0, chain, sequence)
  }

  /// Continues after a frame that was read earlier, of the given kind.
  init(_ segment: Segment, after place: LogPlace, _ kind: FrameKind?, to limit: Int) {
    self.init(
      segment,
      from: place.offset,
      to: limit,
      chain: place.chain,
      sequence: place.sequence
    )
    lastComplete.frame = place.frame
    lastKind = kind
  }

  /// Reads the next frame, and passes on the commit that it completes.
  ///
  /// After a call without result the next one looks again: a writer may have appended a frame by then.
  ///
  /// - Parameters:
  ///   - prepare: Called first for each frame, with its payload.
  ///   - body: Called for each frame of a complete commit, in order, with its payload, the payload's
  ///     offset and the commit's number.
  /// - Returns: `false` if there is no further valid frame.
  /// - Throws: ``StorageError`` if the file cannot be read, or any error that the closures throw.
  mutating func next(
    preparing prepare: (RawSpan) throws -> Void = { _ in },
    _ body: (RawSpan, Int, UInt64) throws -> Void
  ) throws -> Bool {
    guard let header = try validHeader() else { return false }
    let frame = offset..<(offset + header.totalByteCount)
    // Never more than the log before the frame: a position beyond it is no offset of a file.
    durableEnd = max(durableEnd, min(header.durableEnd, segment.logPosition(of: frame.lowerBound)))
    chain = header.headerChecksum
    sequence = header.sequence.rawValue
    offset = frame.upperBound
    lastKind = header.kind
    if segment.readableEnd.load(ordering: .relaxed) < offset {
      segment.readableEnd.store(offset, ordering: .releasing)
    }
    if header.kind.hasRecords {
      group.append((frame.lowerBound + FrameHeader.byteCount)..<frame.upperBound)
      guard header.kind.completesCommit else { return true }
      for payload in group { try segment.withPayload(payload, prepare) }
      for payload in group {
        try segment.withPayload(payload) { try body($0, payload.lowerBound, sequence) }
      }
      group.removeAll(keepingCapacity: true)
      commitCount += 1
    }
    lastComplete = (offset, frame.lowerBound, chain, sequence)
    return true
  }

  private func validHeader() throws -> FrameHeader? {
    // The segment was sealed or, at a clean close, closed: in the latter case the log may continue in it.
    guard lastKind != .seal, limit - offset >= FrameHeader.byteCount else { return nil }
    guard let header = try segment.frameHeader(at: offset), header.chain == chain, follows(header),
      header.totalByteCount <= limit - offset
    else { return nil }
    guard header.payloadLength > 0 else { return header.payloadChecksum == 0 ? header : nil }
    let payload = (offset + FrameHeader.byteCount)..<(offset + header.totalByteCount)
    let checksum = try segment.withPayload(payload) { CRC32C.extend(0, over: $0) }
    return checksum == header.payloadChecksum ? header : nil
  }

  /// Whether a frame's kind and number fit the frames before it.
  private func follows(_ header: FrameHeader) -> Bool {
    switch header.kind {
    case .commit, .first: group.isEmpty && header.sequence.rawValue == sequence + 1
    case .middle, .last: !group.isEmpty && header.sequence.rawValue == sequence
    case .sync, .seal, .close: group.isEmpty && header.sequence.rawValue == sequence
    case .manifest: false
    }
  }
}

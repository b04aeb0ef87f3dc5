import LogEngine
import LogFormat
import RowFormat
import Synchronization

/// Lists the parts of a segment, beyond damage and whatever the frames say of one another.
///
/// A frame is accepted if its header's checksum is right for its place. If there is none, the
/// next is looked for on every boundary of eight bytes. In a segment whose own header is lost, and with
/// it the start of those checksums, the payload's checksum has to do.
struct SegmentWalk {
  let segment: Segment
  /// The segment's end, actual or declared.
  let limit: Int
  private let hasHeader: Bool
  private(set) var offset = SegmentHeader.byteCount
  /// The header checksum of the last frame.
  private var chain: UInt32?
  /// The parts that were found and not handed over.
  private var pending: [SegmentPart] = []
  /// The offset of the last part, and the header checksum of the frame before it.
  private var last: (offset: Int, chain: UInt32?)?

  /// Begins at the start of a segment.
  ///
  /// - Parameters:
  ///   - file: The segment.
  ///   - declaredEnd: The segment's end according to its successor.
  init(_ file: SegmentFile, until declaredEnd: Int? = nil) {
    segment = file.segment
    hasHeader = file.header != nil
    chain = file.header?.previousChain
    limit = min(declaredEnd ?? segment.capacity, segment.capacity)
  }

  /// The next part; `nil` at the end.
  mutating func next() throws -> SegmentPart? {
    if pending.isEmpty, offset < limit { try look() }
    guard !pending.isEmpty else { return nil }
    let part = pending.removeFirst()
    last = (part.range.lowerBound, chain)
    if case .frame(let frame) = part { chain = frame.headerChecksum }
    return part
  }

  /// Goes back to the part handed over last, to look at it again: a writer may have written more meanwhile.
  mutating func goBack() {
    guard let last else { return }
    (offset, chain) = last
    pending.removeAll()
  }

  private mutating func look() throws {
    let start = offset
    var end = start
    while end < limit {
      if let frame = try frame(at: end, follows: end == start) {
        // Frames are written in order: if there is one after bytes that were none, those may be one by now.
        if end > start, let frame = try self.frame(at: start, follows: true) { return take(frame) }
        if end > start { pending.append(.unreadable(start..<end)) }
        return take(frame)
      }
      end = try nextCandidate(after: end)
    }
    let written = try endOfWrittenBytes(from: start)
    if written > start, let frame = try frame(at: start, follows: true) { return take(frame) }
    offset = limit
    if written > start { pending.append(.unreadable(start..<written)) }
    if written < limit { pending.append(.blank(written..<limit)) }
  }

  private mutating func take(_ frame: FrameDescription) {
    pending.append(.frame(frame))
    offset = frame.range.upperBound
  }

  /// The frame that begins at an offset, if there is one.
  private func frame(at offset: Int, follows: Bool) throws -> FrameDescription? {
    guard limit - offset >= FrameHeader.byteCount, let header = try header(at: offset),
      header.kind != .manifest, header.totalByteCount <= limit - offset
    else { return nil }
    let payload = (offset + FrameHeader.byteCount)..<(offset + header.totalByteCount)
    let checksum = try segment.withPayload(payload) { CRC32C.extend(0, over: $0) }
    let continuesChain = follows && (chain ?? header.chain) == header.chain
    if !hasHeader {
      // A mark has no payload to tell it from chance by; its link to the frame before it does.
      let isLinked = follows && chain == header.chain
      guard header.payloadLength > 0 || isLinked, checksum == header.payloadChecksum else {
        return nil
      }
    }
    return FrameDescription(
      segment: segment.id,
      offset: offset,
      kind: header.kind,
      sequence: header.sequence,
      durableEnd: header.durableEnd,
      payloadByteCount: header.payloadLength,
      headerChecksum: header.headerChecksum,
      chain: header.chain,
      payloadChecksum: header.payloadChecksum,
      foundPayloadChecksum: checksum,
      continuesChain: continuesChain,
      isHeaderProven: hasHeader
    )
  }

  private func header(at offset: Int) throws -> FrameHeader? {
    if hasHeader { return try segment.frameHeader(at: offset) }
    let bytes = try segment.file.readBytes(FrameHeader.byteCount, at: offset)
    return FrameHeader(unproven: bytes.bytes)
  }

  /// The next offset at which the first bytes are those of a frame.
  private func nextCandidate(after offset: Int) throws -> Int {
    let step = 1 << 20
    var from = offset + 8
    while from < limit {
      let found = try segment.withAvailableBytes(from..<min(from + step, limit)) { bytes -> Int? in
        var at = 0
        while bytes.byteCount - at >= 8 {
          if bytes.load(UInt32.self, at: at) == FrameHeader.magic { return from + at }
          at += 8
        }
        return nil
      }
      if let found { return found }
      from += step
    }
    return limit
  }

  /// The end of the bytes from an offset on that are not zero, on a boundary of eight.
  func endOfWrittenBytes(from offset: Int) throws -> Int {
    let step = 1 << 20
    var to = limit
    while to > offset {
      let from = max(offset, to - step)
      let count = try segment.withAvailableBytes(from..<to) { $0.endOfNonzeroBytes(from: 0) }
      if count > 0 { return min((from + count + 7) & ~7, limit) }
      to = from
    }
    return offset
  }
}

extension FrameHeader {
  /// Reads a header whose checksum cannot be compared, or returns `nil` if the bytes cannot be one.
  fileprivate init?(unproven bytes: RawSpan) {
    guard bytes.byteCount >= FrameHeader.byteCount,
      bytes.load(UInt32.self, at: 0) == FrameHeader.magic,
      let kind = FrameKind(rawValue: bytes.load(UInt8.self, at: 12))
    else { return nil }
    self.init(
      payloadLength: Int(bytes.load(UInt32.self, at: 8)),
      kind: kind,
      flags: bytes.load(UInt8.self, at: 13),
      sequence: CommitSequence(bytes.load(UInt64.self, at: 16)),
      durableEnd: bytes.load(UInt64.self, at: 24),
      payloadChecksum: bytes.load(UInt32.self, at: 32),
      chain: bytes.load(UInt32.self, at: 36),
      headerChecksum: bytes.load(UInt32.self, at: 4)
    )
    guard payloadLength & 7 == 0 else { return nil }
  }
}

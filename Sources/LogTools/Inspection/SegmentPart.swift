public import LogFormat

/// The contents of a byte range of a segment, as far as the segment alone shows them.
public enum SegmentPart: Hashable, Sendable {
  /// A frame whose header is valid for its place.
  case frame(FrameDescription)
  /// Bytes that are no frame: damage, or the rest of a commit after a crash.
  case unreadable(Range<Int>)
  /// Zeros up to the end of the file: the space that was not written yet.
  case blank(Range<Int>)

  /// The range of the part in the file.
  public var range: Range<Int> {
    switch self {
    case .frame(let frame): frame.range
    case .unreadable(let range), .blank(let range): range
    }
  }
}

/// A frame of a segment: a commit, a part of one, or a mark.
public struct FrameDescription: Hashable, Sendable {
  /// The segment it is in.
  public let segment: SegmentID
  /// The offset of its header in the file.
  public let offset: Int
  /// The kind of the frame.
  public let kind: FrameKind
  /// The commit it belongs to; of a mark, the last commit before it.
  public let sequence: CommitSequence
  /// The log position that was on disk when the frame was built.
  public let durableEnd: UInt64
  /// The size of its payload, in bytes.
  public let payloadByteCount: Int
  /// The header's checksum; whether it is right for this place, ``isHeaderProven`` says.
  public let headerChecksum: UInt32
  /// The header checksum of the frame before it, as this one names it.
  public let chain: UInt32
  /// The payload's checksum, as the header names it.
  public let payloadChecksum: UInt32
  /// The payload's checksum, as its bytes have it.
  public let foundPayloadChecksum: UInt32
  /// Whether it names the frame listed before it as its predecessor.
  public let continuesChain: Bool
  /// Whether the header's checksum could be compared: that takes the segment's own header.
  public let isHeaderProven: Bool

  /// Whether the payload is what was written.
  public var isIntact: Bool { payloadChecksum == foundPayloadChecksum }
  /// Header and payload, in the file.
  public var range: Range<Int> { offset..<(payloadRange.upperBound) }
  /// The payload, in the file.
  public var payloadRange: Range<Int> {
    (offset + FrameHeader.byteCount)..<(offset + FrameHeader.byteCount + payloadByteCount)
  }
}

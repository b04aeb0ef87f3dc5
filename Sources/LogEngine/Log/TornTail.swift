import LogFormat
import RowFormat

/// The bytes after the last valid frame of the log, and the proof they contain.
///
/// An unfinished commit during a power failure leaves such bytes, and may be dropped: it was never acknowledged. A damaged
/// frame that was on disk leaves them, too, and must not be dropped. A proof distinguishes the two: a later frame contains the
/// durable end of the log when it was built. If that is beyond the first invalid byte, that byte was once valid.
package struct TornTail {
  /// The end of the nonzero bytes; the start if there are none.
  package let end: Int
  /// The greatest durable end in a frame among the bytes; 0 if there is no frame.
  package let durableEnd: UInt64

  /// The part of the segment to examine.
  package enum Reach {
    case all
    /// To the first mebibyte of zeros: the next bytes written are before it.
    case nearby
  }

  /// The number of bytes read at a time: few enough to stay in the processor's cache while they are examined.
  private static let step = 256 << 10
  /// The number of zeros behind which ``Reach/nearby`` expects no written bytes.
  private static let gap = 1 << 20

  package init(in segment: Segment, from start: Int, to limit: Int, _ reach: Reach = .all) throws {
    var end = start
    var durableEnd: UInt64 = 0
    // In pieces, through one buffer, so that a copy of the whole segment is never needed; each piece includes the end of a
    // header that begins in it.
    var buffer = ByteBuffer(capacity: min(Self.step + FrameHeader.byteCount, max(limit - start, 0)))
    var from = start
    var blankStart = start
    while from < limit {
      let to = min(from + Self.step, limit)
      let overlap = min(to + FrameHeader.byteCount, limit)
      buffer.removeAll()
      // Copied: another process may cut the file off here, and a mapping then answers with a signal.
      try buffer.append(upTo: overlap - from) { (room) throws(StorageError) in
        try segment.file.read(into: &room, at: from)
      }
      if !buffer.bytes.isZero {
        let bytes = buffer.bytes
        let nonzero = bytes.endOfNonzeroBytes(from: 0)
        end = from + min(nonzero, to - from)
        durableEnd = max(durableEnd, Self.durableEnd(in: bytes, from, to, segment))
        blankStart = to
      }
      if reach == .nearby, to - blankStart >= Self.gap { break }
      from = to
    }
    self.end = end
    self.durableEnd = durableEnd
  }

  /// Returns the greatest durable end in a frame whose header begins in a piece of a segment.
  private static func durableEnd(
    in bytes: RawSpan,
    _ from: Int,
    _ to: Int,
    _ segment: Segment
  ) -> UInt64 {
    var durableEnd: UInt64 = 0
    var at = -from & 7
    while at < to - from, bytes.byteCount - at >= FrameHeader.byteCount {
      if bytes.load(UInt32.self, at: at) == FrameHeader.magic,
        let header = FrameHeader(
          decoding: bytes.extracting(at..<bytes.byteCount),
          seed: segment.seed.at(from + at)
        )
      {
        durableEnd = max(durableEnd, header.durableEnd)
      }
      at += 8
    }
    return durableEnd
  }
}

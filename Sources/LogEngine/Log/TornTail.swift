import LogFormat
import RowFormat

/// The bytes after the last valid frame of the log, and what they prove.
///
/// A commit that was being written when the power failed leaves such bytes, and may be dropped: it was
/// never acknowledged. A frame that was on disk and is damaged leaves them, too, and must not be. The
/// two are told apart by proof: a later frame carries the position up to which the log was on disk
/// when it was built. If that lies beyond the first invalid byte, that byte was once valid.
package struct TornTail {
  /// The end of the bytes that are not zero; the start, if there are none.
  package let end: Int
  /// The greatest position a frame among the bytes says was on disk; 0 if there is no frame.
  package let durableEnd: UInt64

  /// How far to look.
  package enum Reach {
    case all
    /// To the first mebibyte of zeros: what was written next is before it.
    case nearby
  }

  /// How much is read at a time: little enough to stay in the processor's cache until it was looked at.
  private static let step = 256 << 10
  /// How many zeros say that nothing was written behind them for ``Reach/nearby``.
  private static let gap = 1 << 20

  package init(in segment: Segment, from start: Int, to limit: Int, _ reach: Reach = .all) throws {
    var end = start
    var durableEnd: UInt64 = 0
    // By pieces, in one buffer, so that a copy of the whole segment is never needed; each piece sees the header
    // that begins in it and ends in the next.
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

  /// The greatest position that a frame says was on disk whose header begins in a piece of a segment.
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

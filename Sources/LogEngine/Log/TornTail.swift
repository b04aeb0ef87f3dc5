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

  package init(in segment: Segment, from start: Int, to limit: Int, _ reach: Reach = .all) throws {
    var end = start
    var durableEnd: UInt64 = 0
    // By pieces, so that a copy of the whole segment is never needed; each piece sees the header that
    // begins in it and ends in the next.
    let step = 1 << 20
    var from = start
    while from < limit {
      let to = min(from + step, limit)
      let overlap = min(to + FrameHeader.byteCount, limit)
      let isBlank = try segment.withAvailableBytes(from..<overlap) { bytes in
        let nonzero = bytes.endOfNonzeroBytes(from: 0)
        if nonzero == 0 { return true }
        end = from + min(nonzero, to - from)
        var at = -from & 7
        while at < to - from {
          if bytes.byteCount - at >= FrameHeader.byteCount,
            bytes.load(UInt32.self, at: at) == FrameHeader.magic,
            let header = FrameHeader(
              decoding: bytes.extracting(at..<bytes.byteCount),
              seed: segment.seed.at(from + at)
            )
          {
            durableEnd = max(durableEnd, header.durableEnd)
          }
          at += 8
        }
        return false
      }
      if isBlank, reach == .nearby { break }
      from = to
    }
    self.end = end
    self.durableEnd = durableEnd
  }
}

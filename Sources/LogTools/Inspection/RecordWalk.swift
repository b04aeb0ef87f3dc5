import LogFormat
import RowFormat

/// Lists the records of a frame's payload, beyond damage.
///
/// A record is taken for one if its checksum is right and it names its own distance from the frame. In a
/// payload that is damaged the next is looked for on every boundary of eight bytes.
struct RecordWalk {
  private var at: Int
  private let end: Int
  /// Whether bytes were passed over.
  private(set) var hasSkipped = false

  /// Begins with a payload.
  ///
  /// - Parameters:
  ///   - payload: The payload.
  ///   - isIntact: Whether its checksum is right; then the author's name at its end is known to be none
  ///     of the records.
  init(_ payload: RawSpan, isIntact: Bool) {
    let parts = CommitPayload(decoding: payload)
    at = CommitPayload.byteCount
    end = isIntact ? parts?.recordRange.upperBound ?? 0 : payload.byteCount
  }

  /// The next record's offset in the payload, and its header; `nil` at the end.
  mutating func next(in payload: RawSpan) -> (offset: Int, header: RecordHeader)? {
    while end - at >= RecordHeader.shortByteCount {
      let bytes = payload.extracting(at..<end)
      if let header = RecordHeader(decoding: bytes),
        header.distance == FrameHeader.byteCount + at, header.isIntact(in: bytes)
      {
        let offset = at
        at += header.totalByteCount
        return (offset, header)
      }
      at += 8
      hasSkipped = true
    }
    return nil
  }
}

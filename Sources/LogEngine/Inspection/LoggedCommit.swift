import RowFormat

/// A commit as the log has it: who made it, when, and what it changed.
public struct LoggedCommit: Sendable {
  public let sequence: CommitSequence
  /// Who made it, if that was said.
  public let author: String?
  /// When, in microseconds since 1970-01-01T00:00:00Z, by the writer's clock.
  public let microseconds: Int64
  /// Where its first frame stands.
  public let segment: SegmentID
  public let offset: Int
  /// What its frames take in the log.
  public let byteCount: Int
  let state: StoreState
  /// Its frames' payloads.
  let payloads: [Range<Int>]

  init(
    _ sequence: UInt64,
    _ payloads: [Range<Int>],
    in segment: Segment,
    _ state: StoreState
  ) throws {
    guard let first = payloads.first, let last = payloads.last else {
      throw segment.corruption(at: 0, .missing(.payload))
    }
    (microseconds, author) = try segment.withPayload(last) { payload in
      guard let parts = CommitPayload(decoding: payload) else {
        throw segment.corruption(at: last.lowerBound, .missing(.payload))
      }
      return (parts.microseconds, parts.author(in: payload))
    }
    self.sequence = CommitSequence(sequence)
    self.segment = segment.id
    offset = first.lowerBound - FrameHeader.byteCount
    byteCount = last.upperBound - offset
    self.state = state
    self.payloads = payloads
  }

  /// Visits the changes, in the order in which they were made.
  ///
  /// - Parameter body: Called for each. The rows themselves are read only if it asks for them.
  /// - Throws: ``StorageError/corruption(_:)`` if a record is damaged, or what `body` throws.
  public func forEachChange(_ body: (LoggedChange) throws -> ScanControl) throws {
    try forEachRecord { header, place, bytes in
      try body(LoggedChange(header, at: place, bytes, (sequence, microseconds, author), state))
    }
  }

  /// Visits the records, with their bytes from the first to the end of their padding.
  func forEachRecord(
    _ body: (RecordHeader, RecordPlace, RawSpan) throws -> ScanControl
  ) throws {
    for range in payloads {
      let ticket = state.epochs.enter()
      defer { state.epochs.leave(ticket) }
      let control = try state.withSegment(segment) { segment in
        try segment.withPayload(range) { payload -> ScanControl in
          guard let parts = CommitPayload(decoding: payload) else {
            throw segment.corruption(at: range.lowerBound, .missing(.payload))
          }
          var at = parts.recordRange.lowerBound
          while at < parts.recordRange.upperBound {
            let bytes = payload.extracting(at..<parts.recordRange.upperBound)
            let place = RecordPlace(segment: segment.id, offset: range.lowerBound + at)
            guard let header = RecordHeader(decoding: bytes) else {
              throw segment.damagedRecord(at: place.offset)
            }
            let record = bytes.extracting(0..<header.totalByteCount)
            if try body(header, place, record) == .stop { return .stop }
            at += header.totalByteCount
          }
          return .proceed
        }
      }
      if control == .stop { return }
    }
  }
}

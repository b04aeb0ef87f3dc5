import LogFormat
import RowFormat

/// A commit in the log: its author, time and changes.
public struct LoggedCommit: Sendable {
  /// The number of the commit.
  public let sequence: CommitSequence
  /// The author, if the commit names one.
  public let author: String?
  /// The time, in microseconds since 1970-01-01T00:00:00Z, by the writer's clock.
  public let microseconds: Int64
  /// The segment of its first frame.
  public let segment: SegmentID
  /// The offset of its first frame in that segment's file, in bytes.
  public let offset: Int
  /// The size of its frames, in bytes.
  public let byteCount: Int
  let state: StoreState
  /// The segment itself: it can still be read after compaction has taken it out of the store.
  let source: Segment
  let payloads: CommitPayloads

  init(
    _ sequence: UInt64,
    _ payloads: CommitPayloads,
    in segment: Segment,
    _ state: StoreState
  ) throws {
    let last = payloads.last
    (microseconds, author) = try segment.withPayload(last) { payload in
      guard let parts = CommitPayload(decoding: payload) else {
        throw segment.corruption(at: last.lowerBound, .missing(.payload))
      }
      return (parts.microseconds, parts.author(in: payload))
    }
    self.sequence = CommitSequence(sequence)
    self.segment = segment.id
    source = segment
    offset = payloads.first.lowerBound - FrameHeader.byteCount
    byteCount = last.upperBound - offset
    self.state = state
    self.payloads = payloads
  }

  /// Visits the changes in their order.
  ///
  /// - Parameter body: Called for each change. The rows themselves are read only if it asks for them.
  /// - Throws: ``/LogFormat/StorageError/corruption(_:)`` if a record is damaged, or any error that `body` throws.
  public func forEachChange(_ body: (LoggedChange) throws -> ScanControl) throws {
    try forEachRecord { header, place, bytes in
      try body(LoggedChange(header, at: place, bytes, (sequence, microseconds, author), state))
    }
  }

  /// Visits the records, with their bytes from the first to the end of their padding.
  package func forEachRecord(
    _ body: (RecordHeader, RecordPlace, RawSpan) throws -> ScanControl
  ) throws {
    if try forEachRecord(in: payloads.first, body) == .stop { return }
    for range in payloads.rest where try forEachRecord(in: range, body) == .stop { return }
  }

  private func forEachRecord(
    in range: Range<Int>,
    _ body: (RecordHeader, RecordPlace, RawSpan) throws -> ScanControl
  ) throws -> ScanControl {
    try source.withPayload(range) { payload in
      guard let parts = CommitPayload(decoding: payload) else {
        throw source.corruption(at: range.lowerBound, .missing(.payload))
      }
      var at = parts.recordRange.lowerBound
      while at < parts.recordRange.upperBound {
        let bytes = payload.extracting(at..<parts.recordRange.upperBound)
        let place = RecordPlace(segment: segment, offset: range.lowerBound + at)
        guard let header = RecordHeader(decoding: bytes) else {
          throw source.damagedRecord(at: place.offset)
        }
        let record = bytes.extracting(0..<header.totalByteCount)
        if try body(header, place, record) == .stop { return .stop }
        at += header.totalByteCount
      }
      return .proceed
    }
  }
}

/// The ranges of a commit's payloads in their segment; nearly always there is only one.
struct CommitPayloads: Hashable, Sendable {
  let first: Range<Int>
  var rest: [Range<Int>] = []

  init(first: Range<Int>) { self.first = first }

  var last: Range<Int> { rest.last ?? first }
}

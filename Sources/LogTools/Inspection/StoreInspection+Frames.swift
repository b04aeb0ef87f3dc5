public import LogEngine
public import LogFormat
import RowFormat

// Frames and records.
extension StoreInspection {
  /// Visits the parts of a segment: frames, bytes that are none, and the space that is left.
  ///
  /// - Parameters:
  ///   - segment: The segment.
  ///   - body: Called for each part, in the order of the file.
  /// - Throws: ``/LogFormat/StorageError/missingFile(path:)`` if there is no such segment, or what `body` throws.
  /// - Complexity: O(bytes of the segment), at the speed of the checksum.
  public func forEachPart(
    of segment: SegmentID,
    _ body: (SegmentPart) throws -> ScanControl
  ) throws {
    let file = try SegmentFile(segment, paths: paths, fileSystem: fileSystem, reads: reads)
    var walk = SegmentWalk(file)
    while let part = try walk.next() {
      if try body(part) == .stop { return }
    }
  }

  /// Visits the records of a frame; in a damaged one, those that are whole.
  ///
  /// - Parameters:
  ///   - frame: The frame, as ``forEachPart(of:_:)`` found it.
  ///   - body: Called for each record with its body, which it must not keep: a row, a `RowDelta`, what
  ///     a deletion preserves, or changes of the catalogue.
  /// - Throws: ``/LogFormat/StorageError/missingFile(path:)`` if there is no such segment, or what `body` throws.
  public func forEachRecord(
    in frame: FrameDescription,
    _ body: (RecordDescription, _ body: RawSpan) throws -> ScanControl
  ) throws {
    guard frame.kind.hasRecords else { return }
    let file = try SegmentFile(frame.segment, paths: paths, fileSystem: fileSystem, reads: reads)
    try file.segment.withAvailableBytes(frame.payloadRange) { payload in
      guard payload.byteCount == frame.payloadByteCount else { return }
      var walk = RecordWalk(payload, isIntact: frame.isIntact)
      while let (offset, header) = walk.next(in: payload) {
        let place = RecordPlace(
          segment: frame.segment,
          offset: frame.payloadRange.lowerBound + offset
        )
        guard let address = RecordAddress(place) else { continue }
        let bytes = payload.extracting(offset..<(offset + header.totalByteCount))
        let control = try body(
          RecordDescription(header, at: address),
          bytes.extracting(header.bodyRange)
        )
        if control == .stop { return }
      }
    }
  }

  /// The time and the author of a commit, as its frame says; the author only in the last frame of one.
  ///
  /// - Returns: Microseconds since 1970-01-01T00:00:00Z and the name; `nil` for a frame that has no
  ///   records or is damaged.
  public func origin(
    of frame: FrameDescription
  ) throws -> (microseconds: Int64, author: String?)? {
    guard frame.kind.hasRecords, frame.isIntact else { return nil }
    let file = try SegmentFile(frame.segment, paths: paths, fileSystem: fileSystem, reads: reads)
    return try file.segment.withAvailableBytes(frame.payloadRange) { payload in
      CommitPayload(decoding: payload).map { ($0.microseconds, $0.author(in: payload)) }
    }
  }

  /// Lends bytes of a segment's file: fewer than asked for, if it ends earlier.
  public func withBytes<R>(
    of segment: SegmentID,
    in range: Range<Int>,
    _ body: (RawSpan) throws -> R
  ) throws -> R {
    let file = try SegmentFile(segment, paths: paths, fileSystem: fileSystem, reads: reads)
    let bytes = range.clamped(to: 0..<file.byteCount)
    return try file.segment.withAvailableBytes(bytes, body)
  }
}

import LogFormat
import RowFormat

/// A close mark that a manifest counts, but whose end is missing from the file.
///
/// Early writers cut off the last segment at the end of a page that the mark itself did not fit into, if they had published a
/// manifest and committed nothing. No commit is lost with it: the 40 bytes up to the log's clean end in the manifest are this
/// mark and nothing else. Its bytes follow from the frames before it. So a reader takes the log as ending in front of it, and a
/// writer restores it.
struct CutCloseMark {
  /// The last segment.
  let segment: SegmentID
  /// The start of the mark in the segment.
  let start: Int
  /// The start of the mark, counted over all segments.
  let logPosition: UInt64

  /// Checks whether a segment may lack nothing but the end of a close mark.
  ///
  /// - Parameters:
  ///   - manifest: The manifest, which counts the mark as written.
  ///   - segment: The segment's entry in the manifest.
  ///   - size: The size of its file, in bytes.
  init?(_ manifest: Manifest, in segment: Manifest.SegmentEnd, size: Int) {
    let start = segment.end - FrameHeader.byteCount
    guard manifest.isClean, segment.id == manifest.segments.last?.id, segment.end > size,
      size >= start, start >= SegmentHeader.byteCount,
      manifest.durableEnd >= UInt64(FrameHeader.byteCount)
    else { return nil }
    self.segment = segment.id
    self.start = start
    logPosition = manifest.durableEnd - UInt64(FrameHeader.byteCount)
  }

  /// Returns the mark in a segment, given the commit and the header checksum that the frames before it end with.
  private func bytes(in segment: Segment, _ sequence: UInt64, _ chain: UInt32) -> ByteBuffer {
    let header = FrameHeader(
      payloadLength: 0,
      kind: .close,
      sequence: CommitSequence(sequence),
      durableEnd: logPosition,
      payloadChecksum: 0,
      chain: chain
    )
    var bytes = ByteBuffer(capacity: FrameHeader.byteCount)
    bytes.append(header, seed: segment.seed.at(start))
    return bytes
  }

  /// Checks that the log ends in front of the mark, and that the bytes there are the beginning of the mark.
  ///
  /// - Throws: ``StorageError/corruption(_:)`` if anything else is missing.
  func check(against end: FrameScan) throws {
    let segment = end.segment
    let last = end.lastComplete
    var isCut = segment.id == self.segment && last.offset == start
    if isCut {
      let mark = bytes(in: segment, last.sequence, last.chain)
      let rest = try segment.file.readBytes(FrameHeader.byteCount, at: start)
      isCut = (0..<rest.count).allSatisfy {
        rest.bytes.load(UInt8.self, at: $0) == mark.bytes.load(UInt8.self, at: $0)
      }
    }
    guard isCut else {
      throw end.lost(durableUpTo: logPosition + UInt64(FrameHeader.byteCount), .manifest)
    }
  }

  /// Restores the mark at the end of the log.
  func restore(at end: Recovery.End) throws(StorageError) {
    guard let segment = end.segment else { return }
    try bytes(in: segment, end.sequence, end.chain).write(to: segment.file, at: start)
    try segment.file.synchronize()
  }
}

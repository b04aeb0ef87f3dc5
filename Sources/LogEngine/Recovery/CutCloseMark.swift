import LogFormat
import RowFormat

/// A mark that the log was closed, which a manifest counts and of which the file lacks the end.
///
/// Early writers cut the last segment off at the end of a page that the mark itself was too long for, if
/// they had published a manifest and committed nothing. No commit is lost with it: the 40 bytes up to the place
/// that a manifest calls the log's clean end are this mark and nothing else. Its bytes follow from the frames
/// before it. So a reader takes the log as ending in front of it, and a writer puts it back.
struct CutCloseMark {
  /// The last segment.
  let segment: SegmentID
  /// Where the mark begins in it.
  let start: Int
  /// The same place, counted over all segments.
  let logPosition: UInt64

  /// Looks whether a segment may lack nothing but the end of a close mark.
  ///
  /// - Parameters:
  ///   - manifest: The manifest, which counts the mark as written.
  ///   - segment: The segment, as the manifest names it.
  ///   - size: How long its file is.
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

  /// The mark, in a segment whose frames before it end with a commit and a header's checksum.
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

  /// Makes sure that the log ends in front of the mark, and that what is there of the mark is its beginning.
  ///
  /// - Throws: ``StorageError/corruption(_:)`` if it is anything else that is missing.
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

  /// Puts the mark back where the log ends.
  func restore(at end: Recovery.End) throws(StorageError) {
    guard let segment = end.segment else { return }
    try bytes(in: segment, end.sequence, end.chain).write(to: segment.file, at: start)
    try segment.file.synchronize()
  }
}

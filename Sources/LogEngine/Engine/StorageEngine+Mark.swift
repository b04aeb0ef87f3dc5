import Locking
import LogFormat
import Synchronization

// For files beside the log that must not be used with another history.
extension StorageEngine {
  /// Returns the mark of a commit, which distinguishes it from every other commit with its number.
  ///
  /// - Returns: `nil` for a commit that does not exist, or was packed.
  /// - Throws: ``/LogFormat/StorageError`` if the log cannot be read.
  /// - Complexity: As for finding a commit in ``forEachCommit(after:upTo:order:_:)``.
  package func mark(of commit: CommitSequence) throws -> CommitMark? {
    guard commit > .zero, commit <= lastCommit else { return nil }
    guard let segment = state.files.segmentList.last(where: { $0.header.previousSequence < commit })
    else {
      let base = state.files.base.withLock { $0 }
      return base?.sequence == commit.rawValue ? base.map { CommitMark(base: $0.chain) } : nil
    }
    let scan = try state.scan(segment, after: commit.rawValue - 1)
    var (offset, chain) = (scan.offset, scan.chain)
    while let frame = try segment.frameHeader(at: offset), frame.chain == chain {
      if frame.kind.hasRecords, frame.sequence >= commit {
        if frame.sequence > commit { return nil }
        if frame.kind.completesCommit {
          return CommitMark(frame: frame.headerChecksum, in: segment.id, at: offset)
        }
      }
      offset += frame.totalByteCount
      chain = frame.headerChecksum
      guard offset <= scan.limit - FrameHeader.byteCount else { break }
    }
    return nil
  }

  /// Whether a mark, which may come from anywhere, is that of a commit of this store's log.
  ///
  /// - Throws: ``/LogFormat/StorageError`` if the log cannot be read.
  /// - Complexity: O(1).
  package func isMark(_ mark: CommitMark, of commit: CommitSequence) throws -> Bool {
    guard commit > .zero, commit <= lastCommit else { return false }
    if mark.segment == .none {
      let base = state.files.base.withLock { $0 }
      return base?.sequence == commit.rawValue && base.map { CommitMark(base: $0.chain) } == mark
    }
    guard let segment = state.files.segmentList.first(where: { $0.id == mark.segment }) else {
      return false
    }
    let end = segment.readableEnd.load(ordering: .acquiring)
    guard mark.offset >= SegmentHeader.byteCount, mark.offset % 8 == 0,
      mark.offset <= end - FrameHeader.byteCount,
      let frame = try segment.frameHeader(at: mark.offset), frame.kind.completesCommit,
      frame.sequence == commit, frame.totalByteCount <= end - mark.offset,
      CommitMark(frame: frame.headerChecksum, in: mark.segment, at: mark.offset) == mark
    else { return false }
    // The commits after this one are about to be requested.
    state.commitMarks.record(
      .init(
        sequence: commit.rawValue,
        offset: mark.offset + frame.totalByteCount,
        chain: frame.headerChecksum
      ),
      in: segment,
      { state.files.isRetired($0) }
    )
    return true
  }

  /// The written end of the log: grows by the size of each commit, in bytes.
  package var logEnd: UInt64 { state.log.writtenEnd.load(ordering: .relaxed) }

  /// Reports damage of a file beside the log, like that of any other file of the store.
  package func reportDamage(_ error: any Error) { state.reportDamage(error) }
}

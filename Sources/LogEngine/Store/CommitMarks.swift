import Locking
import LogFormat
import RowFormat
import Synchronization

/// Places between commits at which reading the log can begin, so that a reader of history need not begin at the start of a
/// segment.
///
/// Recorded by readers of the log, never by its writer: the first read of a segment goes over its frame headers, later ones
/// begin within ``spacing`` bytes of the wanted commit. A mark never changes, because the log before it never does.
final class CommitMarks: Sendable {
  /// The state of a ``FrameScan`` with which it can continue at a place.
  struct Mark: Hashable, Sendable {
    /// The last commit before.
    var sequence: UInt64
    var offset: Int
    /// The header checksum of the frame before.
    var chain: UInt32
  }

  static let spacing = 64 << 10

  private let marks = Lock<[SegmentID: [Mark]]>([:], .commitMarks)

  /// Returns the last mark that is not behind a commit; the segment's beginning, if there is none.
  func last(upTo sequence: UInt64, in segment: Segment) -> Mark {
    let beginning = Mark(beginningOf: segment)
    return marks.withLock { marks in
      guard let known = marks[segment.id] else { return beginning }
      let count = known.partitionPoint { $0.sequence <= sequence }
      return count == 0 ? beginning : known[count - 1]
    }
  }

  /// Returns the marks of a segment, ascending, its beginning first.
  func all(in segment: Segment) -> [Mark] {
    [Mark(beginningOf: segment)] + marks.withLock { $0[segment.id] ?? [] }
  }

  /// Records a place between commits, if it is far enough behind the last known one.
  func record(_ mark: Mark, in segment: Segment, _ isRetired: (SegmentID) -> Bool) {
    marks.withLock { marks in
      guard let last = marks[segment.id]?.last else {
        guard mark.offset >= SegmentHeader.byteCount + Self.spacing else { return }
        for id in marks.keys where isRetired(id) { marks[id] = nil }
        marks[segment.id] = [mark]
        return
      }
      if mark.offset >= last.offset + Self.spacing { marks[segment.id]?.append(mark) }
    }
  }
}

extension CommitMarks.Mark {
  fileprivate init(beginningOf segment: Segment) {
    self.init(
      sequence: segment.header.previousSequence.rawValue,
      offset: SegmentHeader.byteCount,
      chain: segment.header.previousChain
    )
  }
}

extension StoreState {
  /// Finds the beginning of the commit after the given one, by the headers of the frames before it.
  ///
  /// The frames skipped are not read, and so not checked, except for their headers.
  ///
  /// - Parameters:
  ///   - segment: The segment to search.
  ///   - sequence: The previous commit; the greatest number for the end of the written log.
  /// - Returns: A scan that reads that commit next.
  /// - Throws: ``StorageError/corruption(_:)`` if a frame that must exist is missing.
  /// - Complexity: O(frames of ``CommitMarks/spacing`` bytes); the first time, those of the segment.
  func scan(_ segment: Segment, after sequence: UInt64) throws -> FrameScan {
    let limit = segment.readableEnd.load(ordering: .acquiring)
    let newest = visibility.visible.load(ordering: .acquiring)
    var mark = commitMarks.last(upTo: sequence, in: segment)
    var next = mark
    while next.sequence < min(sequence, newest), limit - next.offset >= FrameHeader.byteCount {
      guard let header = try segment.frameHeader(at: next.offset), header.chain == next.chain,
        header.totalByteCount <= limit - next.offset
      else { break }
      if header.kind.hasRecords, header.sequence.rawValue > sequence { break }
      next.offset += header.totalByteCount
      next.chain = header.headerChecksum
      guard header.kind.completesCommit || !header.kind.hasRecords else { continue }
      next.sequence = header.sequence.rawValue
      mark = next
      commitMarks.record(mark, in: segment, { files.isRetired($0) })
    }
    return FrameScan(
      segment,
      from: mark.offset,
      to: limit,
      chain: mark.chain,
      sequence: mark.sequence
    )
  }
}

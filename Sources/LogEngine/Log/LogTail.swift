import LogFormat
import RowFormat

/// The end of the log, where commits are appended: the state that the shorter-held of the two locks protects.
///
/// A commit is appended to the active buffer, gets its number and is put into the index, all in one step that takes no longer
/// than copying it. The thread that leads the writing takes the whole buffer and leaves an empty one; until the buffer is
/// written, readers of a location in it read it here.
struct LogTail: ~Copyable {
  /// Whether commits may be appended.
  var gate = Gate.open
  /// The frames appended and not being written yet.
  var active = LogBuffer()
  /// The frames being written, or written last; only the leader reads it without this lock.
  var inFlight = LogBuffer()
  /// The segment being appended to; none in a new store, or after an unclean stop.
  var segment: Segment?
  /// Whether the segment can take no more frames, because the log did not end cleanly in it.
  var isEnded = false
  /// The size that the segment must reach before another follows, if its file may be smaller for now: because it was cut off
  /// when the store was closed, or the log is still small.
  var intendedCapacity: Int?
  /// The original size of the segment, if it has grown because its successor was not ready.
  var outgrownCapacity: Int?
  /// The demand of recent commits on the segments to come.
  var demand = SegmentDemand()
  /// The number of the last commit appended.
  var sequence: UInt64 = 0
  /// The header checksum of the last frame appended.
  var chain: UInt32 = 0
  /// The offset of that frame in the segment; 0 if there is none.
  var frame = 0
  /// The usage of the segments, as of the last commit appended.
  var usages = SegmentUsages()
  /// The end of the log, counted over all segments.
  var logEnd: UInt64 = 0

  /// The room, in bytes, that a segment keeps free for the frames that end it.
  static let reserve = 8 * FrameHeader.byteCount

  enum Gate {
    case open
    /// The segment is full: the next one is being prepared, under the other lock.
    case rotating
    case closed
    case poisoned(StorageError)
  }

  /// The frames that a leader writes.
  struct Work {
    let buffer: LogBuffer
    let segment: Segment?
    let lastSequence: UInt64
    let logEnd: UInt64
  }

  /// The offset of the next frame in the segment.
  var end: Int { active.start + active.bytes.count }

  /// Whether a segment written up to an offset is so full that its successor must be prepared.
  func needsSuccessor(after offset: Int, of segment: Segment) -> Bool {
    offset > demand.preparationOffset(in: size(of: segment))
  }

  /// Returns the size that the current segment has or must reach.
  func size(of segment: Segment) -> Int {
    max(segment.capacity, intendedCapacity ?? 0)
  }

  /// The end of the log, with the usage of the segments there; `nil` if there is no log.
  var position: (place: LogPlace, usages: SegmentUsages)? {
    guard let segment else { return nil }
    let place = LogPlace(
      segment: segment.id,
      offset: end,
      frame: frame,
      chain: chain,
      sequence: sequence,
      logPosition: logEnd
    )
    return (place, usages)
  }

  /// Returns everything appended since the last call, for writing.
  mutating func take() -> Work {
    let work = Work(
      buffer: active,
      segment: segment,
      lastSequence: sequence,
      logEnd: logEnd
    )
    swap(&active, &inFlight)
    active.reset(at: inFlight.start + inFlight.bytes.count)
    return work
  }

  /// Copies a record from a buffer.
  ///
  /// - Returns: `false` if it is in neither buffer: then it was written.
  func copyRecord(at place: RecordPlace, into copy: inout ByteBuffer) -> Bool {
    guard place.segment == segment?.id else { return false }
    for buffer in [active, inFlight] {
      if buffer.bytes.copyRecord(at: place.offset - buffer.start, into: &copy) { return true }
    }
    return false
  }
}

/// Bytes to be written to a segment.
///
/// Accesses are not checked for exclusivity: the tail's lock, or being the leader, ensures it, and the checks took a tenth of a
/// commit.
final class LogBuffer: @unchecked Sendable {
  @safe @exclusivity(unchecked) var bytes = ByteBuffer(capacity: 256 << 10)
  /// The offset in the segment at which the bytes are written.
  @safe @exclusivity(unchecked) var start = SegmentHeader.byteCount
  /// The changes of the tables' row counts by the commits in the buffer.
  @safe @exclusivity(unchecked) var rowCounts: [(table: UInt16, change: Int)] = []
  /// The catalogue after the last of these commits that changes it, if any does.
  @safe @exclusivity(unchecked) var catalogue: Catalogue?

  /// Empties the buffer, for bytes at another offset.
  func reset(at start: Int) {
    // The memory that one large commit needed, or had, is not kept for ever.
    if bytes.count > 2 * LogTail.bufferLimit || bytes.capacity > 4 * LogTail.bufferLimit {
      bytes = ByteBuffer(capacity: 256 << 10)
    } else {
      bytes.removeAll()
    }
    self.start = start
    rowCounts.removeAll(keepingCapacity: true)
    catalogue = nil
  }

  /// Records a change of a table's row count.
  func addRows(_ change: Int, to table: UInt16) {
    guard change != 0 else { return }
    if let last = rowCounts.indices.last, rowCounts[last].table == table {
      rowCounts[last].change += change
    } else {
      rowCounts.append((table, change))
    }
  }
}

extension ByteBuffer {
  /// Copies the record at an offset, if there is one.
  func copyRecord(at offset: Int, into copy: inout ByteBuffer) -> Bool {
    guard offset >= 0, offset < count,
      let header = RecordHeader(decoding: bytes.extracting(offset..<count))
    else { return false }
    copy.append(bytes.extracting(offset..<(offset + header.totalByteCount)))
    return true
  }
}

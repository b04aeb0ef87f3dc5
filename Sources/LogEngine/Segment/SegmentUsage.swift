/// How many bytes of records a segment holds, and how many of them some row still needs.
///
/// A delta needs the records before it, down to a whole row. A delete needs itself.
public struct SegmentUsage: Hashable, Sendable {
  /// The bytes of all records.
  public internal(set) var recordByteCount = 0
  /// The bytes of the records that are needed.
  public internal(set) var liveByteCount = 0

  /// The bytes of the records that are not.
  public var deadByteCount: Int { recordByteCount - liveByteCount }
}

/// The usage of every segment, by number.
struct SegmentUsages: Hashable, Sendable {
  private(set) var bySegment: [SegmentID: SegmentUsage] = [:]

  mutating func add(_ byteCount: Int, to segment: SegmentID) {
    bySegment[segment, default: SegmentUsage()].recordByteCount += byteCount
    bySegment[segment, default: SegmentUsage()].liveByteCount += byteCount
  }

  mutating func release(_ dead: borrowing SupersededBytes) {
    for (segment, byteCount) in dead.entries {
      bySegment[segment, default: SegmentUsage()].liveByteCount -= byteCount
    }
  }

  mutating func set(_ usage: SegmentUsage, of segment: SegmentID) { bySegment[segment] = usage }
}

/// Bytes that a commit makes superfluous, by segment.
struct SupersededBytes: Sendable {
  private(set) var entries: [(segment: SegmentID, byteCount: Int)] = []

  mutating func add(_ byteCount: Int, in segment: SegmentID) {
    // Rows changed together were mostly written together: the last entry nearly always fits.
    if let last = entries.indices.last, entries[last].segment == segment {
      entries[last].byteCount += byteCount
    } else {
      entries.append((segment, byteCount))
    }
  }

  mutating func removeAll() { entries.removeAll(keepingCapacity: true) }
}

import RowFormat

/// The size of the records in a segment, and of those that some row still needs.
///
/// A delta needs the records before it, down to a whole row. A delete needs only itself.
public struct SegmentUsage: Hashable, Sendable {
  /// The size of all records, in bytes.
  public package(set) var recordByteCount = 0
  /// The size of the records that are needed, in bytes.
  public package(set) var liveByteCount = 0

  package init(recordByteCount: Int = 0, liveByteCount: Int = 0) {
    self.recordByteCount = recordByteCount
    self.liveByteCount = liveByteCount
  }

  /// Limit of a file's records, in bytes: a greater value is damaged, and sums stay far from overflow.
  static let byteLimit = 1 << 44

  /// The size of the records that are not needed, in bytes.
  public var deadByteCount: Int { recordByteCount - liveByteCount }
}

/// The usage of every segment.
///
/// It is counted separately for each table: a table that is removed takes all its bytes with it, and its records need not be
/// found.
package struct SegmentUsages: Hashable, Sendable {
  /// The entries, by ascending segment and table.
  package private(set) var entries: [Entry] = []

  /// The size of a table's records in a segment; those of the catalogue count as table 0's.
  package struct Entry: Hashable, Sendable {
    package let segment: SegmentID
    package let table: UInt16
    package var usage: SegmentUsage

    package init(segment: SegmentID, table: UInt16, usage: SegmentUsage) {
      self.segment = segment
      self.table = table
      self.usage = usage
    }
  }

  package init() {}

  /// Takes decoded entries; `nil` if they are out of order.
  package init?(ascending entries: [Entry]) {
    for (entry, next) in zip(entries, entries.dropFirst())
    where !entry.isBefore(next.segment, next.table) { return nil }
    self.entries = entries
  }

  /// The size of all tables' records, by segment.
  package var bySegment: [SegmentID: SegmentUsage] {
    var sums: [SegmentID: SegmentUsage] = [:]
    for entry in entries {
      sums[entry.segment, default: SegmentUsage()].recordByteCount += entry.usage.recordByteCount
      sums[entry.segment, default: SegmentUsage()].liveByteCount += entry.usage.liveByteCount
    }
    return sums
  }

  /// Counts records that were appended.
  package mutating func add(_ byteCount: Int, of table: UInt16, to segment: SegmentID) {
    if byteCount == 0 { return }
    let index = makeIndex(of: segment, table)
    entries[index].usage.recordByteCount += byteCount
    entries[index].usage.liveByteCount += byteCount
  }

  /// Counts records as dead.
  package mutating func release(_ dead: borrowing SupersededBytes) {
    for entry in dead.entries {
      entries[makeIndex(of: entry.segment, entry.table)].usage.liveByteCount -= entry.byteCount
    }
  }

  /// Counts all records of a table as dead.
  package mutating func release(table: UInt16) {
    for index in entries.indices where entries[index].table == table {
      entries[index].usage.liveByteCount = 0
    }
  }

  /// Forgets files that are gone.
  package mutating func remove(_ isGone: (SegmentID) -> Bool) {
    entries.removeAll { isGone($0.segment) }
  }

  /// Returns the index of an entry, which is created if needed.
  private mutating func makeIndex(of segment: SegmentID, _ table: UInt16) -> Int {
    // Mostly, records that were just appended are counted: the entry is among the last.
    let last = max(entries.count - 8, 0)
    let start = last > 0 && entries[last].isBefore(segment, table) ? last : 0
    let index = (start..<entries.count).partitionPoint { entries[$0].isBefore(segment, table) }
    if index == entries.count || entries[index].segment != segment || entries[index].table != table
    {
      entries.insert(Entry(segment: segment, table: table, usage: SegmentUsage()), at: index)
    }
    return index
  }
}

extension SegmentUsages.Entry {
  fileprivate func isBefore(_ segment: SegmentID, _ table: UInt16) -> Bool {
    self.segment == segment ? self.table < table : self.segment < segment
  }
}

/// Bytes that a commit makes superfluous, by segment and table.
package struct SupersededBytes: Sendable {
  package private(set) var entries: [(segment: SegmentID, table: UInt16, byteCount: Int)] = []

  package init() {}

  package mutating func add(_ byteCount: Int, of table: UInt16, in segment: SegmentID) {
    // Rows changed together were mostly written together: the last entry nearly always fits.
    if let last = entries.indices.last, entries[last].segment == segment,
      entries[last].table == table
    {
      entries[last].byteCount += byteCount
    } else {
      entries.append((segment, table, byteCount))
    }
  }

  package mutating func removeAll() { entries.removeAll(keepingCapacity: true) }
}

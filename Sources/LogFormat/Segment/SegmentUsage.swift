/// How many bytes of records a segment holds, and how many of them some row still needs.
///
/// A delta needs the records before it, down to a whole row. A delete needs itself.
public struct SegmentUsage: Hashable, Sendable {
  /// The bytes of all records.
  public package(set) var recordByteCount = 0
  /// The bytes of the records that are needed.
  public package(set) var liveByteCount = 0

  package init(recordByteCount: Int = 0, liveByteCount: Int = 0) {
    self.recordByteCount = recordByteCount
    self.liveByteCount = liveByteCount
  }

  /// No file has as many bytes of records: what claims more is damaged, and sums stay far from overflow.
  static let byteLimit = 1 << 44

  /// The bytes of the records that are not.
  public var deadByteCount: Int { recordByteCount - liveByteCount }
}

/// The usage of every segment.
///
/// It is counted for each table apart: a table that is removed takes all its bytes with it, and nothing
/// has to look for them.
package struct SegmentUsages: Hashable, Sendable {
  /// By ascending segment and table.
  package private(set) var entries: [Entry] = []

  /// What the records of a table take in a segment; those of the catalogue count as table 0's.
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

  /// Takes entries as they were written down; `nil` if they are out of order.
  package init?(ascending entries: [Entry]) {
    for (entry, next) in zip(entries, entries.dropFirst())
    where !entry.isBefore(next.segment, next.table) { return nil }
    self.entries = entries
  }

  /// What all tables together take, by segment.
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

  /// The index of an entry, which is made if need be.
  private mutating func makeIndex(of segment: SegmentID, _ table: UInt16) -> Int {
    var low = 0
    var high = entries.count
    // Most of what is counted was just appended: to the last entries.
    if high > 8, entries[high - 8].isBefore(segment, table) { low = high - 8 }
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].isBefore(segment, table) { low = middle + 1 } else { high = middle }
    }
    if low == entries.count || entries[low].segment != segment || entries[low].table != table {
      entries.insert(Entry(segment: segment, table: table, usage: SegmentUsage()), at: low)
    }
    return low
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

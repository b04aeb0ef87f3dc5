public import LogEngine
public import LogFormat
import RowFormat
import Synchronization

/// The use of the records of a file of the log, or of the rows of a pack, in bytes.
public struct FileUsage: Hashable, Sendable {
  /// Bytes that the newest rows, deletions and the catalogue need.
  public internal(set) var liveByteCount = 0
  /// Bytes that only earlier commits need, which can still be read.
  public internal(set) var historyByteCount = 0
  /// Bytes that nothing can read any more: a compaction would leave them out.
  public internal(set) var deadByteCount = 0

  /// Nothing.
  public init() {}

  /// The bytes of all records.
  public var recordByteCount: Int { liveByteCount + historyByteCount + deadByteCount }

  static func += (sum: inout FileUsage, usage: FileUsage) {
    sum.liveByteCount += usage.liveByteCount
    sum.historyByteCount += usage.historyByteCount
    sum.deadByteCount += usage.deadByteCount
  }
}

/// The use of a store's files.
///
/// For a pack, the figures are the sizes of its rows as records of the log: its file is smaller.
public struct StoreUsage: Hashable, Sendable {
  /// The usage of each file of the log.
  public internal(set) var segments: [SegmentID: FileUsage] = [:]
  /// The usage of each pack.
  public internal(set) var packs: [PackID: FileUsage] = [:]
  /// By the table's number; the catalogue's records count as table 0's.
  public internal(set) var tables: [UInt16: FileUsage] = [:]
  /// The oldest commit that can be read.
  public internal(set) var oldestCommit = CommitSequence.zero

  /// The sum of all files.
  public var total: FileUsage {
    var total = FileUsage()
    for usage in segments.values { total += usage }
    for usage in packs.values { total += usage }
    return total
  }
}

extension StorageEngine {
  /// Measures the live, historical and dead bytes of each file.
  ///
  /// The rows of a table that was removed count as dead.
  ///
  /// - Throws: ``/LogFormat/StorageError/corruption(_:)`` if the log is damaged where it has to be read.
  /// - Complexity: O(tables and files) in a store that was never compacted; otherwise reads the log from
  ///   the oldest commit on that can be read.
  public func fileUsage() throws -> StoreUsage {
    let entries = state.currentUsages.usages.entries
    let packs = Set(state.currentPacks.map(\.id.rawValue))
    let base = state.currentBase
    let catalogue = catalogue
    var usage = StoreUsage()
    usage.oldestCommit = CommitSequence(base?.lowWaterMark ?? 0)
    let history = base == nil ? nil : try historyBytes(after: usage.oldestCommit)
    for entry in entries {
      let isRemoved = entry.table != 0 && catalogue.table(entry.table) == nil
      let superseded = entry.usage.deadByteCount
      var file = FileUsage()
      file.liveByteCount = entry.usage.liveByteCount
      if !isRemoved {
        let key = FileTable(file: entry.segment, table: entry.table)
        file.historyByteCount = min(history.map { $0[key] ?? 0 } ?? superseded, superseded)
      }
      file.deadByteCount = superseded - file.historyByteCount
      usage.tables[entry.table, default: FileUsage()] += file
      if packs.contains(entry.segment.rawValue) {
        usage.packs[PackID(rawValue: entry.segment.rawValue), default: FileUsage()] += file
      } else {
        usage.segments[entry.segment, default: FileUsage()] += file
      }
    }
    return usage
  }

  private struct FileTable: Hashable {
    let file: SegmentID
    let table: UInt16
  }

  /// Bytes that the commits after a commit have superseded: the state before each of them can be read and needs them.
  private func historyBytes(after oldest: CommitSequence) throws -> [FileTable: Int] {
    var bytes: [FileTable: Int] = [:]
    try forEachCommit(after: oldest) { commit in
      try commit.forEachRecord { header, _, _ in
        // A delta needs what it builds on; a whole row and a deletion supersede the chain before them.
        guard header.kind == .fullImage || header.kind == .delete else { return .proceed }
        try state.files.reading {
          var next = header.previous
          while !next.isNone, let place = try state.resolve(next, of: header.reference) {
            next = try state.withRecord(at: place, of: header.reference) { record, _ in
              let key = FileTable(file: place.segment, table: header.table)
              bytes[key, default: 0] += record.totalByteCount
              guard record.leadsBack(from: place) else {
                throw state.inconsistency(at: place, header.reference)
              }
              return record.kind == .delta ? record.previous : .none
            }
          }
        }
        return .proceed
      }
      return .proceed
    }
    return bytes
  }
}

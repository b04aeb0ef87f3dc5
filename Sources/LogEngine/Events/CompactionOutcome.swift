import LogFormat

/// The progress of a compaction.
public struct CompactionProgress: Sendable, Hashable {
  /// The number of rows written into packs.
  public internal(set) var foldedRowCount = 0
  /// The number of keys examined.
  public internal(set) var examinedKeyCount = 0
  /// The number of keys to examine, at most.
  public internal(set) var keyCount = 0
  /// The size of the rows packed and of those read back to be verified, in bytes.
  public internal(set) var workedByteCount = 0
  /// The time since the beginning, pauses included.
  public internal(set) var elapsed = Duration.zero

  /// The rate, in bytes of rows per second.
  public var bytesPerSecond: Double { Double.rate(workedByteCount, elapsed) }
}

/// The result of a request for a compaction.
public enum CompactionOutcome: Sendable, Hashable {
  /// Something was packed.
  case compacted(CompactionReport)
  /// Everything that can be packed is packed, except for the last segment.
  case nothingToDo
  /// Everything that could be packed is history that must stay; see ``EngineOptions/history``.
  case isHistory
  /// The progress handler, or the closing of the store, stopped it; the store is unchanged.
  case stopped
  /// A ``ReadView`` sees this commit, and everything that could be packed is later: retry once the view is gone.
  case waitsForView(of: CommitSequence)
  /// A read that began earlier has not ended yet: retry later.
  case waitsForRead

  /// The report of the compaction; `nil` if nothing was packed.
  public var report: CompactionReport? {
    if case .compacted(let report) = self { report } else { nil }
  }
}

/// The figures of a compaction.
public struct CompactionReport: Sendable, Hashable {
  /// The number of segments packed.
  public let segmentCount: Int
  /// The number of packs rewritten.
  public let packCount: Int
  /// The number of new packs.
  public let newPackCount: Int
  /// The number of rows in the new packs.
  public let rowCount: Int
  /// The size of the removed files, in bytes.
  public let readByteCount: Int
  /// The size of the new packs, in bytes.
  public let writtenByteCount: Int
  /// The size of the rows packed and of those read back to be verified, in bytes.
  public let workedByteCount: Int
  /// The duration, pauses included.
  public let duration: Duration
}

extension CompactionReport {
  /// The rate, in bytes of rows per second.
  public var bytesPerSecond: Double { Double.rate(workedByteCount, duration) }
}

extension Double {
  /// Returns the rate per second; 0 if no time has passed.
  fileprivate static func rate(_ count: Int, _ duration: Duration) -> Double {
    duration > .zero ? Double(count) / (duration / .seconds(1)) : 0
  }
}

extension CompactionReport {
  /// Adds up the figures of two successive compactions.
  static func + (lhs: CompactionReport, rhs: CompactionReport) -> CompactionReport {
    CompactionReport(
      segmentCount: lhs.segmentCount + rhs.segmentCount,
      packCount: lhs.packCount + rhs.packCount,
      newPackCount: lhs.newPackCount + rhs.newPackCount,
      rowCount: lhs.rowCount + rhs.rowCount,
      readByteCount: lhs.readByteCount + rhs.readByteCount,
      writtenByteCount: lhs.writtenByteCount + rhs.writtenByteCount,
      workedByteCount: lhs.workedByteCount + rhs.workedByteCount,
      duration: lhs.duration + rhs.duration
    )
  }
}

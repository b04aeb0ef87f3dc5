import LogFormat

/// How far a compaction has come.
public struct CompactionProgress: Sendable, Hashable {
  /// How many rows were written into packs.
  public internal(set) var foldedRowCount = 0
  /// How many keys were examined.
  public internal(set) var examinedKeyCount = 0
  /// How many there are to examine, at most.
  public internal(set) var keyCount = 0
  /// How many bytes of rows were packed, and read back to be verified.
  public internal(set) var workedByteCount = 0
  /// For how long it has been going on, pauses included.
  public internal(set) var elapsed = Duration.zero

  /// How fast it goes, in bytes of rows per second.
  public var bytesPerSecond: Double { Double.rate(workedByteCount, elapsed) }
}

/// The result of a request for a compaction.
public enum CompactionOutcome: Sendable, Hashable {
  /// Something was packed.
  case compacted(CompactionReport)
  /// Everything that can be packed is, but for what the last segment holds.
  case nothingToDo
  /// All that could be packed is history that is to stay; see ``EngineOptions/history``.
  case isHistory
  /// The progress handler, or the closing of the store, stopped it; the store is unchanged.
  case stopped
  /// A ``ReadView`` sees this commit, and what could be packed is later: ask again when it is gone.
  case waitsForView(of: CommitSequence)
  /// A row is being read that began to be read before, and does not come to an end: ask again.
  case waitsForRead

  /// What was done; `nil` if nothing was.
  public var report: CompactionReport? {
    if case .compacted(let report) = self { report } else { nil }
  }
}

/// What a compaction did.
public struct CompactionReport: Sendable, Hashable {
  /// How many segments of the log were packed.
  public let segmentCount: Int
  /// How many packs were written again.
  public let packCount: Int
  /// How many packs were written.
  public let newPackCount: Int
  /// How many rows those have.
  public let rowCount: Int
  /// The bytes of the files that are gone.
  public let readByteCount: Int
  /// The bytes of the new packs.
  public let writtenByteCount: Int
  /// How many bytes of rows were packed, and read back to be verified.
  public let workedByteCount: Int
  /// How long it took, pauses included.
  public let duration: Duration
}

extension CompactionReport {
  /// How fast it went, in bytes of rows per second.
  public var bytesPerSecond: Double { Double.rate(workedByteCount, duration) }
}

extension Double {
  /// So many per second; 0 if no time has passed.
  fileprivate static func rate(_ count: Int, _ duration: Duration) -> Double {
    duration > .zero ? Double(count) / (duration / .seconds(1)) : 0
  }
}

extension CompactionReport {
  /// What two compactions did, one after the other.
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

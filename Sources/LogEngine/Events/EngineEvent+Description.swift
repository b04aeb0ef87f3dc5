import LogFormat

extension EngineEvent: CustomStringConvertible {
  /// The event and its figures in one line: `checkpoint written number=3 bytes=81920 …`.
  public var description: String {
    ([name] + details.map { "\($0.name)=\($0.value)" }).joined(separator: " ")
  }

  /// The name of the event: a few words that do not vary.
  public var name: String {
    switch self {
    case .opened: "store opened"
    case .closed: "store closed"
    case .segmentSealed: "segment sealed"
    case .checkpointWritten: "checkpoint written"
    case .checkpointFailed: "checkpoint failed"
    case .blobsSwept: "blobs swept"
    case .rowsExpired: "rows expired"
    case .compactionStarted: "compaction started"
    case .compactionEnded: "compaction ended"
    case .compactionFailed: "compaction failed"
    case .noSpace: "no space"
    case .poisoned: "store poisoned"
    case .damageFound: "damage found"
    case .leftBehind: "follower left behind"
    }
  }

  /// The figures of the event; bytes and counts are whole numbers, durations seconds.
  public var details: [Detail] {
    switch self {
    case .opened(let report): report.details
    case .closed: []
    case .segmentSealed(let report): report.details
    case .checkpointWritten(let report): report.details
    case .blobsSwept(let report): report.details
    case .rowsExpired(let report): report.details
    case .compactionStarted(let start): start.details
    case .compactionEnded(let outcome): outcome.details
    case .noSpace(let path, let needed): [Detail("path", path), Detail("needed_bytes", needed)]
    case .checkpointFailed(let error), .compactionFailed(let error), .poisoned(let error),
      .damageFound(let error), .leftBehind(let error):
      [Detail("error", error)]
    }
  }

  /// A figure of an event.
  public struct Detail: Hashable, Sendable {
    /// The name of the figure: words joined by underscores, the unit last.
    public let name: String
    /// The figure as text: a number without separators, or the description of an error.
    public let value: String

    init(_ name: String, _ value: some CustomStringConvertible) {
      self.name = name
      self.value = value.description
    }
    init(_ name: String, _ error: StorageError) { self.init(name, String(describing: error)) }
    /// Formats a duration in seconds, to the microsecond, and never as a power of ten.
    init(_ name: String, _ duration: Duration) {
      let microseconds = max(0, duration.microseconds)
      let (seconds, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
      let digits = String(rest)
      self.init(name, "\(seconds).\(String(repeating: "0", count: 6 - digits.count))\(digits)")
    }
  }
}

private typealias Detail = EngineEvent.Detail

extension RecoveryReport {
  fileprivate var details: [Detail] {
    var details = [
      Detail("duration_seconds", duration), Detail("clean", wasClosedCleanly),
      Detail("last_commit", lastCommit.rawValue), Detail("replayed_commits", scannedCommitCount),
      Detail("replayed_bytes", scannedByteCount), Detail("torn_bytes", tornByteCount),
    ]
    if let checkpoint { details.append(Detail("checkpoint", checkpoint)) }
    if ignoredCheckpointCount > 0 {
      details.append(Detail("ignored_checkpoints", ignoredCheckpointCount))
    }
    if let damage { details.append(Detail("error", damage)) }
    return details
  }
}

extension SegmentReport {
  fileprivate var details: [Detail] {
    [
      Detail("segment", segment.rawValue), Detail("bytes", byteCount),
      Detail("last_commit", lastCommit.rawValue), Detail("next_segment", next.rawValue),
      Detail("next_bytes", nextByteCount), Detail("duration_seconds", duration),
    ]
  }
}

extension CheckpointReport {
  fileprivate var details: [Detail] {
    [
      Detail("checkpoint", number), Detail("bytes", byteCount),
      Detail("last_commit", lastCommit.rawValue), Detail("duration_seconds", duration),
    ]
  }
}

extension BlobSweepReport {
  fileprivate var details: [Detail] {
    [Detail("removed_files", removedFileCount), Detail("duration_seconds", duration)]
      + (failure.map { [Detail("error", $0)] } ?? [])
  }
}

extension ExpirationReport {
  fileprivate var details: [Detail] {
    [
      Detail("entity", entityName), Detail("deleted_rows", deletedCount),
      Detail("kept_rows", keptCount), Detail("commits", commitCount),
      Detail("search_seconds", searchDuration), Detail("duration_seconds", duration),
    ]
      + [keptReason.map { Detail("kept_because", $0) }, failure.map { Detail("error", $0) }]
      .compactMap { $0 }
  }
}

extension CompactionStart {
  fileprivate var details: [Detail] {
    [
      Detail("trigger", trigger.rawValue), Detail("segments", segmentCount),
      Detail("packs", packCount), Detail("bytes", byteCount),
    ]
  }
}

extension CompactionOutcome {
  fileprivate var details: [Detail] {
    switch self {
    case .compacted(let report):
      [
        Detail("outcome", "compacted"), Detail("segments", report.segmentCount),
        Detail("packs", report.packCount), Detail("new_packs", report.newPackCount),
        Detail("rows", report.rowCount), Detail("read_bytes", report.readByteCount),
        Detail("written_bytes", report.writtenByteCount),
        Detail("duration_seconds", report.duration),
      ]
    case .waitsForView(let commit):
      [Detail("outcome", "waits for view"), Detail("view_commit", commit.rawValue)]
    case .waitsForRead: [Detail("outcome", "waits for read")]
    case .stopped: [Detail("outcome", "stopped")]
    case .nothingToDo: [Detail("outcome", "nothing to do")]
    case .isHistory: [Detail("outcome", "is history")]
    }
  }
}

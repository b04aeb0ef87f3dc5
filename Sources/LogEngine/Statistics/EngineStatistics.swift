import LogFormat

/// Figures on a store's parts, and on the work done since it was opened.
///
/// Collected at once, without touching a file: cheap enough to request every second.
public struct EngineStatistics: Hashable, Sendable {
  /// The newest commit that is visible to readers.
  public let lastCommit: CommitSequence
  /// The size of the log, counted over all segments without their headers, in bytes.
  public let logByteCount: Int
  /// The part of the log that is known to be on disk, in bytes.
  public let durableByteCount: Int
  /// The files of the log, in order.
  public let segments: [SegmentStatistics]
  /// The packs, by ascending number.
  public let packs: [PackStatistics]
  /// The existing tables, by ascending number.
  public let tables: [TableStatistics]
  /// The writes of this process.
  public let writing: WritingStatistics
  /// The work of compaction so far, and its current state.
  public let compaction: CompactionStatistics
  /// The decoded blocks of packs kept in memory, and the hits of this cache.
  public let blockCache: BlockCacheStatistics
  /// The commits being read.
  public let pins: PinStatistics
  /// The reason that nothing can be saved any more, as in ``/LogFormat/StorageError/poisoned(path:cause:)``; `nil` if there is
  /// none.
  public let failure: StorageError?

  /// The size of the files of the log and the packs, in bytes.
  public var fileByteCount: Int {
    segments.reduce(0) { $0 + $1.fileByteCount } + packs.reduce(0) { $0 + $1.fileByteCount }
  }
  /// The size of the records that rows, deletions and the catalogue need, in bytes; rows of packs count with their size in the
  /// log.
  public var liveByteCount: Int { sum { $0.liveByteCount } }
  /// The size of records that were replaced or deleted, in bytes: those of the history, and the dead ones.
  public var supersededByteCount: Int { sum { $0.deadByteCount } }
  /// The size of records that are not needed any more, in bytes.
  public var deadByteCount: Int { supersededByteCount - historyByteCount }
  /// The size of superseded records in segments that stay for the history, in bytes.
  public var historyByteCount: Int {
    segments.reduce(0) { $0 + ($1.isHistory ? $1.usage.deadByteCount : 0) }
  }
  /// The size of the files of the log and the packs, without the history, for each byte that is needed; 1 for an empty store.
  ///
  /// Preallocated segment space that is still empty counts, so the value is large for a small store.
  /// ``StorageEngine/spaceUsage()`` counts checkpoints, manifests and side files, too.
  public var spaceAmplification: Double {
    let live =
      segments.reduce(0) { $0 + $1.usage.liveByteCount }
      + packs.reduce(0) { $0 + $1.liveFileByteCount }
    return live == 0 ? 1 : Double(fileByteCount - historyByteCount) / Double(live)
  }
  /// The memory that the index takes, in bytes, mapped pages included.
  public var indexByteCount: Int { tables.reduce(0) { $0 + $1.indexByteCount } }
}

extension EngineStatistics {
  private func sum(_ part: (SegmentUsage) -> Int) -> Int {
    segments.reduce(0) { $0 + part($1.usage) } + packs.reduce(0) { $0 + part($1.usage) }
  }
}

/// A file of the log.
public struct SegmentStatistics: Hashable, Sendable {
  /// The segment.
  public let segment: SegmentID
  /// The size of the file in bytes, including space not written yet.
  public let fileByteCount: Int
  /// The size of the segment's written part, in bytes.
  public let writtenByteCount: Int
  /// The first commit that may be in the segment.
  public let firstCommit: CommitSequence
  /// The store's epoch when the segment was begun: the number of openings for writing until then.
  public let epoch: UInt32
  /// The time at which the segment was begun, in microseconds since 1970-01-01T00:00:00Z.
  public let created: Int64
  /// The usage of its records.
  public let usage: SegmentUsage
  /// Whether the segment could be packed, but stays for the history.
  public let isHistory: Bool
}

/// A pack.
public struct PackStatistics: Hashable, Sendable {
  /// The pack.
  public let pack: PackID
  /// The size of its file, in bytes.
  public let fileByteCount: Int
  /// The number of rows in the pack, live or not.
  public let rowCount: Int
  /// The usage of its rows, in bytes of the log.
  public let usage: SegmentUsage

  /// An estimate of the file's live bytes, as if all its rows had the same size.
  public var liveFileByteCount: Int {
    usage.recordByteCount == 0
      ? 0
      : Int(Double(fileByteCount) * Double(usage.liveByteCount) / Double(usage.recordByteCount))
  }
}

/// A table.
public struct TableStatistics: Hashable, Sendable {
  /// The number of the table, as in row references.
  public let number: UInt16
  /// The name of the table.
  public let name: String
  /// The number of rows in the table.
  public let rowCount: Int
  /// The usage of its records, in all segments.
  public let usage: SegmentUsage
  /// The memory that its part of the index takes, in bytes, mapped pages included.
  public let indexByteCount: Int
}

/// The writes to the log since the store was opened.
public struct WritingStatistics: Hashable, Sendable {
  /// The number of commits written.
  public internal(set) var commitCount = 0
  /// The number of groups in which commits were written, each at once.
  public internal(set) var groupCount = 0
  /// The size of the frames appended to the log, in bytes, headers and padding included.
  public internal(set) var byteCount = 0
  /// The size of the packs that compaction wrote, in bytes.
  public internal(set) var packByteCount = 0
  /// The size of the checkpoints written, in bytes.
  public internal(set) var checkpointByteCount = 0
  /// The number of synchronizations of the log.
  public internal(set) var synchronizationCount = 0
  /// The number of groups by size: at index *n* those of at least 2ⁿ commits, and of fewer than twice as many.
  public internal(set) var groupSizes = [Int](repeating: 0, count: 16)
}

extension WritingStatistics {
  /// The number of bytes written for each byte of the log: the log itself, packs and checkpoints.
  ///
  /// Excludes the zeros that segments are filled with before use, and manifests and side files. 1 if nothing was committed.
  public var writeAmplification: Double {
    if byteCount == 0 { return 1 }
    return Double(byteCount + packByteCount + checkpointByteCount) / Double(byteCount)
  }
}

/// The work of compaction since the store was opened, and its current state.
public struct CompactionStatistics: Hashable, Sendable {
  /// The number of completed compactions.
  public internal(set) var count = 0
  /// The number of segments packed.
  public internal(set) var segmentCount = 0
  /// The number of packs rewritten.
  public internal(set) var packCount = 0
  /// The size of the removed files, in bytes.
  public internal(set) var readByteCount = 0
  /// The size of the packs that replaced them, in bytes.
  public internal(set) var writtenByteCount = 0
  /// The total duration, pauses included.
  public internal(set) var duration = Duration.zero
  /// The report of the last compaction.
  public internal(set) var last: CompactionReport?
  /// The number of background compactions that failed; they are tried again.
  public internal(set) var failureCount = 0
  /// The error of the last failed compaction; `nil` if none has failed.
  public internal(set) var lastFailure: StorageError?
  /// Whether a background compaction is running.
  public internal(set) var isRunning = false
  /// The progress of that compaction.
  public internal(set) var progress = CompactionProgress()
  /// The limit of its rate, in bytes of rows per second; `nil` without a limit.
  public internal(set) var bytesPerSecond: Int?
  /// The size of the dead records that it can reclaim, in bytes: those of packs, and of segments that need not stay.
  public internal(set) var debtByteCount = 0
  /// The compaction pressure: at 1 a compaction is due.
  public internal(set) var pressure = 0.0
  /// The delays of commits while compaction was behind.
  public internal(set) var saveDelays = SaveDelayStatistics()
  /// The reason that the last compaction was not started.
  public internal(set) var obstacle: CompactionOutcome?

  /// The rate of the running background compaction, otherwise of the last one, in bytes of rows per second; 0 if there was
  /// none.
  public var rate: Double { isRunning ? progress.bytesPerSecond : last?.bytesPerSecond ?? 0 }

  mutating func record(_ report: CompactionReport) {
    count += 1
    segmentCount += report.segmentCount
    packCount += report.packCount
    readByteCount += report.readByteCount
    writtenByteCount += report.writtenByteCount
    duration += report.duration
    last = report
  }
}

/// The commits that views pin.
public struct PinStatistics: Hashable, Sendable {
  /// The number of open views.
  public let count: Int
  /// The oldest commit that a view sees.
  public let oldestCommit: CommitSequence?
  /// The age of that view, by the system's clock.
  public let oldestAge: Duration?
  /// The size of the segments that only a view keeps from being packed, in bytes.
  public let heldByteCount: Int
}

/// The decoded blocks of packs kept in memory.
public struct BlockCacheStatistics: Hashable, Sendable {
  /// The number of reads that found their row in the cache, and of those that did not.
  public let reads: BlockReads
  /// The size of the cache, in bytes.
  public let byteCount: Int
  /// The limit of its size, in bytes; see ``EngineOptions/blockCacheByteCount``.
  public let byteLimit: Int
  /// The number of blocks dropped to make room.
  public let evictionCount: Int
}

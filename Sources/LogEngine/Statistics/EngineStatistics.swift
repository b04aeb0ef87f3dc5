import LogFormat

/// What a store is made of, and what has been done to it since it was opened.
///
/// Read in one go, without touching a file: cheap enough to be asked for every second.
public struct EngineStatistics: Hashable, Sendable {
  /// The newest commit that readers see.
  public let lastCommit: CommitSequence
  /// How long the log is, counted over all segments and without their headers.
  public let logByteCount: Int
  /// How much of the log is known to be on disk.
  public let durableByteCount: Int
  /// The files of the log, in its order.
  public let segments: [SegmentStatistics]
  /// The packs, by ascending number.
  public let packs: [PackStatistics]
  /// The tables there are, by ascending number.
  public let tables: [TableStatistics]
  /// What this process has written.
  public let writing: WritingStatistics
  /// What compaction has done, and does.
  public let compaction: CompactionStatistics
  /// The rows of packs that are kept in memory, and how often they were at hand.
  public let blockCache: BlockCacheStatistics
  /// What is being read.
  public let pins: PinStatistics
  /// Why nothing can be saved any more, as of ``/LogFormat/StorageError/poisoned(path:cause:)``; `nil` if all is well.
  public let failure: StorageError?

  /// What the files of the log and the packs take.
  public var fileByteCount: Int {
    segments.reduce(0) { $0 + $1.fileByteCount } + packs.reduce(0) { $0 + $1.fileByteCount }
  }
  /// The bytes of records that rows, deletions and the catalogue need; those of packs count as they would
  /// in the log.
  public var liveByteCount: Int { sum { $0.liveByteCount } }
  /// The bytes of records that were replaced or deleted: those of the history, and the dead ones.
  public var supersededByteCount: Int { sum { $0.deadByteCount } }
  /// The bytes of records that nothing needs.
  public var deadByteCount: Int { supersededByteCount - historyByteCount }
  /// The bytes of superseded records in segments that stay for the history.
  public var historyByteCount: Int {
    segments.reduce(0) { $0 + ($1.isHistory ? $1.usage.deadByteCount : 0) }
  }
  /// How many bytes the files of the log and the packs take, but for the history, for each that is needed; 1
  /// for an empty store.
  ///
  /// The space that segments were made ready with and that holds nothing yet counts, so in a small store it is
  /// large. ``StorageEngine/spaceUsage()`` counts checkpoints, manifests and side files, too.
  public var spaceAmplification: Double {
    let live =
      segments.reduce(0) { $0 + $1.usage.liveByteCount }
      + packs.reduce(0) { $0 + $1.liveFileByteCount }
    return live == 0 ? 1 : Double(fileByteCount - historyByteCount) / Double(live)
  }
  /// What the index takes in memory, mapped pages included.
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
  /// What the file takes, with the space that was not written yet.
  public let fileByteCount: Int
  /// Where what was written ends in it.
  public let writtenByteCount: Int
  /// The first commit that may be in it.
  public let firstCommit: CommitSequence
  /// How often the store had been opened for writing when it was begun.
  public let epoch: UInt32
  /// When it was begun, in microseconds since 1970-01-01T00:00:00Z.
  public let created: Int64
  /// Its records.
  public let usage: SegmentUsage
  /// Whether it could be packed, and stays for the history.
  public let isHistory: Bool
}

/// A pack.
public struct PackStatistics: Hashable, Sendable {
  /// The pack.
  public let pack: PackID
  /// The size of its file, in bytes.
  public let fileByteCount: Int
  /// How many rows it holds, live or not.
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
  /// The number of the table, as row references have it.
  public let number: UInt16
  /// The name of the table.
  public let name: String
  /// How many rows the table has.
  public let rowCount: Int
  /// Its records, in all segments.
  public let usage: SegmentUsage
  /// What its part of the index takes in memory, mapped pages included.
  public let indexByteCount: Int
}

/// What was written to the log since the store was opened.
public struct WritingStatistics: Hashable, Sendable {
  /// How many commits were written.
  public internal(set) var commitCount = 0
  /// How many times commits were written, one or many in one go.
  public internal(set) var groupCount = 0
  /// The bytes appended to the log, headers and padding included.
  public internal(set) var byteCount = 0
  /// The bytes of packs that compaction wrote.
  public internal(set) var packByteCount = 0
  /// The bytes of checkpoints.
  public internal(set) var checkpointByteCount = 0
  /// How many times the log was synchronized.
  public internal(set) var synchronizationCount = 0
  /// How many groups there were by their size: at index *n* those of at least 2ⁿ commits, and of fewer
  /// than twice as many.
  public internal(set) var groupSizes = [Int](repeating: 0, count: 16)
}

extension WritingStatistics {
  /// How many bytes were written for each byte of the log: the log itself, packs and checkpoints.
  ///
  /// Without the zeros that segments are filled with before they are used, and without manifests and side
  /// files. 1 if nothing was committed.
  public var writeAmplification: Double {
    if byteCount == 0 { return 1 }
    return Double(byteCount + packByteCount + checkpointByteCount) / Double(byteCount)
  }
}

/// What compaction has done since the store was opened, and what it does.
public struct CompactionStatistics: Hashable, Sendable {
  /// How many compactions were completed.
  public internal(set) var count = 0
  /// How many segments of the log were packed.
  public internal(set) var segmentCount = 0
  /// How many packs were written again.
  public internal(set) var packCount = 0
  /// The bytes of the files that are gone.
  public internal(set) var readByteCount = 0
  /// The bytes of the packs in their place.
  public internal(set) var writtenByteCount = 0
  /// How long they took, pauses included.
  public internal(set) var duration = Duration.zero
  /// What the last of them did.
  public internal(set) var last: CompactionReport?
  /// How many background compactions failed; they are tried again.
  public internal(set) var failureCount = 0
  /// Why the last failed one failed; `nil` if none has.
  public internal(set) var lastFailure: StorageError?
  /// Whether one is under way in the background.
  public internal(set) var isRunning = false
  /// The progress of that compaction.
  public internal(set) var progress = CompactionProgress()
  /// The limit of its rate, in bytes of rows per second; `nil` without a limit.
  public internal(set) var bytesPerSecond: Int?
  /// The dead bytes that it can reclaim: those of packs, and of segments that need not stay.
  public internal(set) var debtByteCount = 0
  /// The compaction pressure: at 1 a compaction is due.
  public internal(set) var pressure = 0.0
  /// The delays of commits while compaction was behind.
  public internal(set) var saveDelays = SaveDelayStatistics()
  /// Why the last compaction was not started.
  public internal(set) var obstacle: CompactionOutcome?

  /// How fast the one that is under way in the background goes, otherwise the last one went, in bytes of rows
  /// per second; 0 if there was none.
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
  /// The oldest commit a view sees.
  public let oldestCommit: CommitSequence?
  /// The age of that view, by the system's clock.
  public let oldestAge: Duration?
  /// The bytes of segments that only a view keeps from being packed.
  public let heldByteCount: Int
}

/// The rows of packs that are kept in memory.
public struct BlockCacheStatistics: Hashable, Sendable {
  /// Reads that found their row in the cache, and reads that did not.
  public let reads: BlockReads
  /// How many bytes it holds.
  public let byteCount: Int
  /// How many bytes it may hold; see ``EngineOptions/blockCacheByteCount``.
  public let byteLimit: Int
  /// How many blocks were dropped to make room.
  public let evictionCount: Int
}

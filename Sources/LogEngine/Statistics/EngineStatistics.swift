/// What a store is made of, and what has been done to it since it was opened.
///
/// Read in one go, without a system call: cheap enough to be asked for every second.
public struct EngineStatistics: Hashable, Sendable {
  /// The newest commit that readers see.
  public let lastCommit: CommitSequence
  /// How long the log is, counted over all segments and without their headers.
  public let logByteCount: Int
  /// How much of the log is known to be on disk.
  public let durableByteCount: Int
  /// The files of the log, in its order.
  public let segments: [SegmentStatistics]
  /// The tables there are, by ascending number.
  public let tables: [TableStatistics]
  /// What this process has written.
  public let writing: WritingStatistics
  /// What is being read.
  public let pins: PinStatistics

  /// What the files of the log take.
  public var fileByteCount: Int { segments.reduce(0) { $0 + $1.fileByteCount } }
  /// The bytes of records that rows, deletions and the catalogue need.
  public var liveByteCount: Int { segments.reduce(0) { $0 + $1.usage.liveByteCount } }
  /// The bytes of records that nothing but the history needs.
  public var deadByteCount: Int { segments.reduce(0) { $0 + $1.usage.deadByteCount } }
  /// What the index takes in memory, mapped pages included.
  public var indexByteCount: Int { tables.reduce(0) { $0 + $1.indexByteCount } }
}

/// A file of the log.
public struct SegmentStatistics: Hashable, Sendable {
  public let segment: SegmentID
  /// What the file takes, with the space that was not written yet.
  public let fileByteCount: Int
  /// Where what was written ends in it.
  public let writtenByteCount: Int
  /// The first commit that may stand in it.
  public let firstCommit: CommitSequence
  /// How often the store had been opened for writing when it was begun.
  public let epoch: UInt32
  /// When it was begun, in microseconds since 1970-01-01T00:00:00Z.
  public let created: Int64
  /// Its records.
  public let usage: SegmentUsage
}

/// A table.
public struct TableStatistics: Hashable, Sendable {
  public let number: UInt16
  public let name: String
  public let rowCount: Int
  /// Its records, in all segments.
  public let usage: SegmentUsage
  /// What its part of the index takes in memory, mapped pages included.
  public let indexByteCount: Int
}

/// What was written to the log since the store was opened.
public struct WritingStatistics: Hashable, Sendable {
  public internal(set) var commitCount = 0
  /// How many times commits were written, one or many in one go.
  public internal(set) var groupCount = 0
  public internal(set) var byteCount = 0
  /// How many times the log was seen to the disk.
  public internal(set) var synchronizationCount = 0
  /// How many groups there were by their size: at index *n* those of at least 2ⁿ commits, and of fewer
  /// than twice as many.
  public internal(set) var groupSizes = [Int](repeating: 0, count: 16)
}

/// Which commits are being read.
public struct PinStatistics: Hashable, Sendable {
  /// How many views there are.
  public let count: Int
  /// The oldest commit a view sees.
  public let oldestCommit: CommitSequence?
  /// How long that view has been there; of no more worth than the clock.
  public let oldestAge: Duration?
}

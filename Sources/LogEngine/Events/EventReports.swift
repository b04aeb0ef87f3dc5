import LogFormat

/// A segment that is full.
public struct SegmentReport: Hashable, Sendable {
  /// The segment.
  public let segment: SegmentID
  /// The size of the segment's written part, in bytes.
  public let byteCount: Int
  /// The newest commit in it.
  public let lastCommit: CommitSequence
  /// The segment in which the log continues.
  public let next: SegmentID
  /// The size of the next segment's file, in bytes.
  public let nextByteCount: Int
  /// The time for which commits waited: near zero if the next segment was ready.
  public let duration: Duration
}

/// A checkpoint that was written.
public struct CheckpointReport: Hashable, Sendable {
  /// The number of the checkpoint, one more than the one before it.
  public let number: UInt64
  /// The size of the checkpoint's file, in bytes.
  public let byteCount: Int
  /// The newest commit it holds.
  public let lastCommit: CommitSequence
  /// The duration of writing it; commits continued meanwhile, unless the store was being closed.
  public let duration: Duration
}

/// The result of a search for side files without an owner.
public struct BlobSweepReport: Hashable, Sendable {
  /// The number of files removed.
  public internal(set) var removedFileCount = 0
  /// The duration, including other work done between the steps.
  public internal(set) var duration = Duration.zero
  /// The reason that the sweep was given up; it is repeated at the next opening.
  public internal(set) var failure: StorageError?
}

/// A compaction that begins.
public struct CompactionStart: Hashable, Sendable {
  /// The trigger of a compaction.
  public enum Trigger: String, Hashable, Sendable {
    /// The store's own schedule; see ``EngineOptions/CompactionMode/automatic``.
    case background
    /// A call of ``StorageEngine/compact(keeping:progress:)``.
    case demand
  }

  /// The trigger of the compaction.
  public let trigger: Trigger
  /// The number of segments to be packed.
  public let segmentCount: Int
  /// The number of packs to be rewritten.
  public let packCount: Int
  /// The size of those segments and packs, in bytes.
  public let byteCount: Int
}

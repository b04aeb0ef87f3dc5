import LogFormat

/// A segment that was filled.
public struct SegmentReport: Hashable, Sendable {
  /// The segment.
  public let segment: SegmentID
  /// Where what was written ends in it.
  public let byteCount: Int
  /// The newest commit in it.
  public let lastCommit: CommitSequence
  /// The segment in which the log goes on, and how large its file is.
  public let next: SegmentID
  /// The size of the next segment's file, in bytes.
  public let nextByteCount: Int
  /// For how long commits waited: near nothing if the next segment was ready.
  public let duration: Duration
}

/// A checkpoint that was written.
public struct CheckpointReport: Hashable, Sendable {
  /// The number of the checkpoint, one more than the one before it.
  public let number: UInt64
  /// How long its file is.
  public let byteCount: Int
  /// The newest commit it holds.
  public let lastCommit: CommitSequence
  /// How long writing it took; commits went on meanwhile, unless the store was being closed.
  public let duration: Duration
}

/// The result of a search for side files without an owner.
public struct BlobSweepReport: Hashable, Sendable {
  /// How many files were removed.
  public internal(set) var removedFileCount = 0
  /// How long it took, with the work that was done between its steps.
  public internal(set) var duration = Duration.zero
  /// Why it was given up before its end; it is made again at the next opening.
  public internal(set) var failure: StorageError?
}

/// A compaction that begins.
public struct CompactionStart: Hashable, Sendable {
  /// What triggered it.
  public enum Trigger: String, Hashable, Sendable {
    /// The store's own schedule; see ``EngineOptions/CompactionMode/automatic``.
    case background
    /// A call of ``StorageEngine/compact(keeping:progress:)``.
    case demand
  }

  /// Why the compaction begins.
  public let trigger: Trigger
  /// How many segments of the log are to be packed.
  public let segmentCount: Int
  /// How many packs are to be written again.
  public let packCount: Int
  /// The bytes of their files.
  public let byteCount: Int
}

import LogFormat

/// The findings and the work of opening a store.
public struct RecoveryReport: Hashable, Sendable {
  /// Whether the store had been closed, so that nothing had to be replayed.
  public internal(set) var wasClosedCleanly = false
  /// The size of the frames read, in bytes.
  public internal(set) var scannedByteCount = 0
  /// The number of commits read.
  public internal(set) var scannedCommitCount = 0
  /// The newest commit found.
  public internal(set) var lastCommit = CommitSequence.zero
  /// The size, in bytes, of an unacknowledged commit that was left behind, counted up to its last nonzero byte.
  public internal(set) var tornByteCount = 0
  /// The checkpoint that the index was loaded from.
  public internal(set) var checkpoint: UInt64?
  /// The number of checkpoints skipped because they were damaged, stale or of another store.
  public internal(set) var ignoredCheckpointCount = 0
  /// The duration of opening.
  public internal(set) var duration = Duration.zero
  /// The damage up to which a damaged store was opened.
  public internal(set) var damage: StorageError?
}

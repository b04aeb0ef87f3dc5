import LogFormat

/// What opening a store found and did.
public struct RecoveryReport: Hashable, Sendable {
  /// Whether the store had been closed, so that nothing had to be replayed.
  public internal(set) var wasClosedCleanly = false
  /// How many bytes of frames were read.
  public internal(set) var scannedByteCount = 0
  /// How many commits were read.
  public internal(set) var scannedCommitCount = 0
  /// The newest commit found.
  public internal(set) var lastCommit = CommitSequence.zero
  /// How many bytes of a commit that was never acknowledged were left behind, counted up to the last
  /// byte that is not zero.
  public internal(set) var tornByteCount = 0
  /// The checkpoint the index was taken from.
  public internal(set) var checkpoint: UInt64?
  /// How many checkpoints were damaged, stale or of another store, and passed over.
  public internal(set) var ignoredCheckpointCount = 0
  /// How long opening took.
  public internal(set) var duration = Duration.zero
  /// Where a damaged store that was opened up to its damage ends.
  public internal(set) var damage: StorageError?
}

import LogFormat

/// Something that happened to a store and that its operator may want to know.
///
///     let engine = try StorageEngine.open(at: "trips.store") { event in print(event) }
///
/// A commit or a read that succeeds is no event, and costs nothing here: count those with
/// ``StorageEngine/statistics()``.
///
/// The engine hands over one event at a time, in the order in which they happened, and holds none of its
/// locks meanwhile. The thread is the engine's own, or that of a call that failed, or that compacted, wrote
/// a checkpoint, opened or closed the store; never that of a commit that succeeds. Return soon, for the
/// engine's thread makes segments ready, too. From within the handler, ``StorageEngine/statistics()`` may be
/// called; reads, commits and ``StorageEngine/close()`` may not, and keeping the engine in the handler keeps
/// the store open for ever.
///
/// Later versions have more cases: a `switch` needs a `default`.
public enum EngineEvent: Hashable, Sendable {
  /// The store was opened, and this was found and done for it.
  case opened(RecoveryReport)
  /// The store was closed, as the call that did so is about to say.
  case closed

  // MARK: Files

  /// A segment of the log is full, and the log goes on in the next.
  case segmentSealed(SegmentReport)
  /// There is a new checkpoint: the next opening reads the log from there.
  case checkpointWritten(CheckpointReport)
  /// A checkpoint could not be written. Nothing is lost; the next opening takes longer.
  case checkpointFailed(StorageError)
  /// Side files without an owner were looked for.
  case blobsSwept(BlobSweepReport)

  // MARK: Expiration

  /// Rows that had expired were looked for, and were deleted, or could not be.
  ///
  /// Once for each class at the end of a pass: a pass that finds nothing is no event. The engine deletes no rows by
  /// itself; LogStore reports this event.
  case rowsExpired(ExpirationReport)

  // MARK: Compaction

  /// A compaction began; it ends or fails.
  case compactionStarted(CompactionStart)
  /// A compaction ended, or was given up: then the store is unchanged.
  case compactionEnded(CompactionOutcome)
  /// A compaction failed. The store is as it was; in the background it is tried again.
  case compactionFailed(StorageError)

  // MARK: Trouble

  /// The device is full: commits are refused, or will be once the current segment is full.
  ///
  /// Reported once, and again after a minute if it still holds.
  case noSpace(path: String, needed: Int)
  /// A write or a sync failed, so that nothing can be saved any more until the store is opened anew.
  case poisoned(StorageError)
  /// Something that was read is damaged, gone or cannot be read. Each place is reported once.
  case damageFound(StorageError)
  /// A follower cannot go on, since its writer packed what comes next: it has to be opened anew.
  case leftBehind(StorageError)
}

/// Receives the events of a store; see ``EngineEvent`` for when and on which thread it is called.
public typealias EngineEventHandler = @Sendable (EngineEvent) -> Void

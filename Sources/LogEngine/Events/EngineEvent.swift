import LogFormat

/// An event of a store that its operator may want to know about.
///
///     let engine = try StorageEngine.open(at: "trips.store") { event in print(event) }
///
/// A successful commit or read is not an event, and costs nothing here: count those with ``StorageEngine/statistics()``.
///
/// The engine delivers one event at a time, in the order in which they occurred, and holds none of its locks meanwhile. The
/// thread is the engine's own, or that of a call that failed, or that compacted, wrote a checkpoint, opened or closed the
/// store; never that of a successful commit. The handler should return soon, because the engine's thread prepares segments,
/// too. It may call ``StorageEngine/statistics()``; it must not read, commit or call ``StorageEngine/close()``, and if it
/// retains the engine, the store stays open for ever.
///
/// Later versions add cases: a `switch` needs a `default`.
public enum EngineEvent: Hashable, Sendable {
  /// The store was opened, with this result of its recovery.
  case opened(RecoveryReport)
  /// The store was closed; the call that closes it is about to return.
  case closed

  // MARK: Files

  /// A segment of the log is full, and the log continues in the next.
  case segmentSealed(SegmentReport)
  /// There is a new checkpoint: the next opening reads the log from there.
  case checkpointWritten(CheckpointReport)
  /// A checkpoint could not be written. Nothing is lost; the next opening takes longer.
  case checkpointFailed(StorageError)
  /// A sweep for side files without an owner has ended.
  case blobsSwept(BlobSweepReport)

  // MARK: Expiration

  /// A pass over expired rows has deleted them, or could not.
  ///
  /// Reported once for each class at the end of a pass; a pass that finds nothing is not an event. The engine deletes no rows
  /// by itself; LogStore reports this event.
  case rowsExpired(ExpirationReport)

  // MARK: Compaction

  /// A compaction began; its end or failure is a later event.
  case compactionStarted(CompactionStart)
  /// A compaction ended, or was given up: then the store is unchanged.
  case compactionEnded(CompactionOutcome)
  /// A compaction failed. The store is unchanged; the background tries again.
  case compactionFailed(StorageError)

  // MARK: Trouble

  /// The device is full: commits are refused, or will be once the current segment is full.
  ///
  /// Reported once, and again after a minute if the device is still full.
  case noSpace(path: String, needed: Int)
  /// A write or a synchronization failed, so that nothing can be saved until the store is opened anew.
  case poisoned(StorageError)
  /// A file is damaged, missing or unreadable. Each place is reported once.
  case damageFound(StorageError)
  /// A follower cannot continue, since its writer packed the next commits: it has to be opened anew.
  case leftBehind(StorageError)
}

/// A handler of the events of a store; see ``EngineEvent`` for the time and thread of its calls.
public typealias EngineEventHandler = @Sendable (EngineEvent) -> Void

import LogFormat

/// What the housekeeper asks of the log's writer, beside what a compaction does.
///
/// The housekeeper decides when something is due; the writer, which alone knows its locks, does it.
protocol HousekeptLog: LogPublisher {
  /// Whether nothing can be written any more: because the store was closed, or a call failed.
  var hasEnded: Bool { get }
  /// How far the log has come since the last attempt at a checkpoint; `nil` if it has ended.
  var checkpointDistance: CheckpointDistance? { get }

  /// Makes the next segment ready if the current one is full enough.
  func prepareIfNeeded()
  /// Sends what was written to the disk, without keeping commits from being written meanwhile.
  func synchronizeBehind()
  /// Goes on to the next segment if the current one grew beyond its size.
  func leaveOutgrownSegment()
  /// Goes on to the next segment, if commits are in this one: it can be packed then.
  ///
  /// - Parameter frugality: How much room the next one takes on a device that is nearly full.
  /// - Throws: ``StorageError/noSpace(path:needed:)`` before anything is changed.
  func leaveSegment(_ frugality: SegmentFrugality) throws(StorageError)
  /// Removes files of blobs that nobody needs, and tells other processes what this one does not need.
  ///
  /// - Returns: Whether such files are left, beside others who may still need them.
  func settleWithOthers() -> Bool
  /// Whether the process keeps its turn at writing a store that several write, with nothing to do in it.
  var keepsTurn: Bool { get }
  /// Appends a frame that says that everything before it is on disk, if nothing else did and no commit came since the
  /// last call.
  ///
  /// - Returns: Whether there is nothing left to be said.
  func witnessIfIdle() -> Bool
  /// Writes a checkpoint, unless the newest is at the end of the log.
  ///
  /// - Throws: ``StorageError`` if it cannot be written; only a failure of the log itself ends writing.
  func checkpoint() throws(StorageError)
  /// Appends to the newest checkpoint what changed since, if it can be continued.
  ///
  /// - Throws: ``StorageError`` if it cannot be written; only a failure of the log itself ends writing.
  func appendIncrement() throws(StorageError)
}

/// What tells whether a checkpoint is due.
struct CheckpointDistance {
  /// By how many bytes the log grew since the last attempt.
  var grownByteCount: UInt64
  /// How long the file of the last checkpoint is, without increments.
  var lastByteCount: Int
  /// By how many bytes the log grew since the last checkpoint or increment; `nil` if there is none to continue.
  var continuedByteCount: UInt64?
  /// Whether a compaction made the last checkpoint useless, and none was written since.
  var isMissing: Bool
}

import LogFormat

/// The housekeeper's view of the log's writer, in addition to that of a compaction.
///
/// The housekeeper decides when work is due; the writer, which alone knows its locks, does it.
protocol HousekeptLog: LogPublisher {
  /// Whether writing has ended: because the store was closed, or a call failed.
  var hasEnded: Bool { get }
  /// The growth of the log since the last attempt at a checkpoint; `nil` if writing has ended.
  var checkpointDistance: CheckpointDistance? { get }

  /// Prepares the next segment if the current one is full enough.
  func prepareIfNeeded()
  /// Synchronizes the written log, without keeping commits from being written meanwhile.
  func synchronizeBehind()
  /// Moves to the next segment if the current one has grown beyond its size.
  func leaveOutgrownSegment()
  /// Moves to the next segment if this one contains commits, so that it can be packed.
  ///
  /// - Parameter frugality: The room that the next segment takes on a device that is nearly full.
  /// - Throws: ``StorageError/noSpace(path:needed:)`` before anything is changed.
  func leaveSegment(_ frugality: SegmentFrugality) throws(StorageError)
  /// Removes files of blobs that no process needs, and publishes the oldest commit that this one needs.
  ///
  /// - Returns: Whether such files remain, because other processes may still need them.
  func settleWithOthers() -> Bool
  /// Whether the process keeps an unused turn at writing a store that several processes write.
  var keepsTurn: Bool { get }
  /// Appends a frame that witnesses that everything before it is on disk, unless there is one already or a commit came since
  /// the last call.
  ///
  /// - Returns: Whether no witness is needed any more.
  func witnessIfIdle() -> Bool
  /// Writes a checkpoint, unless the newest is at the end of the log.
  ///
  /// - Throws: ``StorageError`` if it cannot be written; only a failure of the log itself ends writing.
  func checkpoint() throws(StorageError)
}

/// The figures that decide whether a checkpoint is due.
struct CheckpointDistance {
  /// The growth of the log since the last attempt, in bytes.
  var grownByteCount: UInt64
  /// The size of the last checkpoint's file without increments, in bytes.
  var lastByteCount: Int
  /// The growth of the log since the last checkpoint or increment, in bytes; `nil` if there is none to continue.
  var continuedByteCount: UInt64?
  /// Whether a compaction came after the last checkpoint, so that it is useless or names files that are gone.
  var isMissing: Bool
}

import LogFormat

/// The right to compact a store.
struct CompactionPermit: Sendable {
  /// The lock of `COMPACTION`, where several processes write the store.
  let lock: (any LockableFile)?
}

/// The log's writer, as a compaction sees it.
///
/// A compaction writes packs by itself. Making them part of the store takes a manifest, and only the log's writer
/// publishes manifests.
protocol LogPublisher: AnyObject, Sendable {
  var state: StoreState { get }
  /// Whether written bytes must be synchronized to survive a crash: `false` for a store in memory.
  var synchronizes: Bool { get }
  /// The manifests on disk.
  var manifestFiles: ManifestFiles { get }

  /// Returns the current manifest.
  ///
  /// - Throws: ``StorageError/closed(path:)`` or ``StorageError/poisoned(path:cause:)`` if the log has ended.
  func currentManifest() throws(StorageError) -> Manifest

  /// Allocates a number that no file of the store ever had.
  ///
  /// - Throws: ``StorageError`` if no number is left, or this process's turn does not come.
  func takeFileNumber() throws(StorageError) -> UInt32

  /// Keeps other processes from compacting the store.
  ///
  /// - Returns: The permit, which excludes them for as long as it lives; `nil` if another process compacts.
  /// - Throws: ``StorageError`` if the lock cannot be taken.
  func lockCompaction() throws(StorageError) -> CompactionPermit?

  /// Removes the files of a process that died while it compacted; in a turn, under the compaction lock.
  ///
  /// Called before each compaction: a process that died between two turns leaves no notice, and may have been a stopped
  /// command.
  func removeRemains()

  /// Runs `body` while no other process writes the store.
  func inTurn<R>(any body: () throws -> R) throws -> R

  /// Returns the oldest commit that any other writing process needs; `nil` if only one process can write, and the greatest
  /// number if there is no other.
  ///
  /// - Throws: ``StorageError`` if the members' files cannot be read.
  func readOthersBound() throws(StorageError) -> UInt64?

  /// Updates the oldest commit that other writing processes need, which bounds a compaction; in a turn.
  func findOthersBound() throws(StorageError)

  /// The number of the checkpoint that increments continue; `nil` if the next one begins anew.
  var continuedCheckpoint: UInt64? { get }

  /// Appends the changes since the newest checkpoint to it, if it can be continued.
  ///
  /// - Throws: ``StorageError`` if it cannot be written; only a failure of the log itself ends writing.
  func appendIncrement() throws(StorageError)

  /// Runs `body` while checkpoints are paused.
  func withCheckpointsPaused<R>(_ body: () throws -> R) throws -> R

  /// Waits until a commit is visible, and as durable as the options ask for.
  func write(through sequence: UInt64) throws(StorageError)

  /// Synchronizes the log, and makes a manifest with a new beginning of the log.
  ///
  /// - Parameters:
  ///   - base: The new beginning of the log.
  ///   - claim: Called once the log is on disk, while no commit is written.
  /// - Returns: The manifest, not published yet.
  /// - Throws: ``StorageError`` if the log has ended or cannot be synchronized, or any error that `claim` throws.
  func prepareManifest(
    base: LogBase,
    claiming claim: () throws(StorageError) -> Void
  ) throws(StorageError) -> Manifest

  /// Makes a published manifest the current one.
  ///
  /// - Parameters:
  ///   - manifest: The published manifest.
  ///   - change: Changes the end of the log in the same step.
  /// - Returns: Files of earlier manifests that nothing can refer to any more.
  func adopt(_ manifest: Manifest, _ change: (inout LogTail) -> Void) -> [String]

  /// Keeps files until the next manifest is published: until then, a manifest that names them may be the current one.
  func keepUntilNextManifest(_ paths: [String])

  /// Ends writing after a failure that leaves the disk's contents unknown.
  ///
  /// - Returns: The error to throw.
  func poison(_ error: StorageError) -> StorageError
}

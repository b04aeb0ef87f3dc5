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

  /// The current manifest.
  ///
  /// - Throws: ``StorageError/closed(path:)`` or ``StorageError/poisoned(path:cause:)`` if the log has ended.
  func currentManifest() throws(StorageError) -> Manifest

  /// Allocates a number that no file of the store ever had.
  ///
  /// - Throws: ``StorageError`` if there is none any more, or this process's turn does not come.
  func takeFileNumber() throws(StorageError) -> UInt32

  /// Makes sure that no other process compacts the store.
  ///
  /// - Returns: What keeps it so for as long as it lives; `nil` if another process compacts.
  /// - Throws: ``StorageError`` if that cannot be found out.
  func lockCompaction() throws(StorageError) -> CompactionPermit?

  /// Removes files that another process left which died while it compacted; in a turn, by who may compact.
  ///
  /// Before each compaction: one that died between two turns tells nobody, and may have been a command that was stopped.
  func removeRemains()

  /// Runs `body` while no other process writes the store.
  func inTurn<R>(any body: () throws -> R) throws -> R

  /// The oldest commit that another process needs which writes the store; `nil` if no other can, and the greatest number
  /// if no other does.
  ///
  /// - Throws: ``StorageError`` if that cannot be found out.
  func readOthersBound() throws(StorageError) -> UInt64?

  /// Finds out which commits the other processes need that write the store, for what a compaction may leave out; in a turn.
  func findOthersBound() throws(StorageError)

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
  /// - Throws: ``StorageError`` if the log has ended or cannot be synchronized, or what `claim` throws.
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

  /// Keeps files until the next manifest is published: until then, one that names them may be the current one.
  func keepUntilNextManifest(_ paths: [String])

  /// Ends writing after a failure that leaves the disk's contents unknown.
  ///
  /// - Returns: The error to throw.
  func poison(_ error: StorageError) -> StorageError
}

import LogFormat

/// What a compaction asks of the log's writer.
///
/// A compaction writes packs by itself. To make them part of the store it needs a manifest, and only the
/// log's writer publishes one.
protocol LogPublisher: AnyObject, Sendable {
  var state: StoreState { get }
  /// Whether there is a disk that what was written may be lost from.
  var synchronizes: Bool { get }
  /// Where manifests are.
  var manifestFiles: ManifestFiles { get }

  /// The manifest that counts.
  ///
  /// - Throws: ``StorageError/closed(path:)`` or ``StorageError/poisoned(path:cause:)`` if the log has ended.
  func currentManifest() throws(StorageError) -> Manifest

  /// Takes a number that no file of the store had before.
  func takeFileNumber() -> UInt32

  /// Runs `body` while no checkpoint is written.
  func withCheckpointsPaused<R>(_ body: () throws -> R) throws -> R

  /// Returns when a commit is visible, and as safe as the options ask for.
  func write(through sequence: UInt64) throws(StorageError)

  /// Synchronizes the log, and makes the manifest that has the log begin elsewhere.
  ///
  /// - Parameters:
  ///   - base: Where the log is to begin.
  ///   - claim: Called once the log is on disk, while no commit is written.
  /// - Returns: The manifest, which is not published yet.
  /// - Throws: ``StorageError`` if the log has ended or cannot be synchronized, or what `claim` throws.
  func prepareManifest(
    base: LogBase,
    claiming claim: () throws(StorageError) -> Void
  ) throws(StorageError) -> Manifest

  /// Makes a manifest that was published the one that counts.
  ///
  /// - Parameters:
  ///   - manifest: The manifest.
  ///   - change: Changes the end of the log in the same step.
  /// - Returns: Files of earlier manifests that nothing can refer to any more.
  func adopt(_ manifest: Manifest, _ change: (inout LogTail) -> Void) -> [String]

  /// Keeps files for as long as a manifest that names them may be the one that counts: until another of its
  /// number has taken its place.
  func keepUntilNextManifest(_ paths: [String])

  /// Ends writing, after a failure that leaves it unknown what is on the disk.
  ///
  /// - Returns: What to throw.
  func poison(_ error: StorageError) -> StorageError
}

import Locking
import LogFormat
import Synchronization

/// A copy of a store for a change that is too large for one commit; the copy becomes the store all at once or not at all.
///
///     let staged = try engine.makeStagedStore()
///     … staged.engine.apply(changes), staged.engine.commit(&batch), as often as need be …
///     let engine = try staged.publish()
///
/// The copy is in the store's own folder, under `staged/`, and is a complete store. It shares every file that never changes, so
/// that creating it costs hardly more than copying the end of the log; its appends go into segments of its own, with numbers
/// after the store's. Meanwhile the store is unchanged, and cannot be written to.
///
/// The commit point is the store's next manifest, which describes the copy. Then the copy's new files get a second name in the
/// store, and `staged/` is emptied. After a crash the next opening for writing completes this (``StagedFiles/settle()``):
/// before the manifest, by removing the copy; after it, by moving the files.
package final class StagedStore {
  /// The copy.
  package let engine: StorageEngine
  private let original: StorageEngine
  private let files: StagedFiles

  fileprivate init(_ engine: StorageEngine, of original: StorageEngine, _ files: StagedFiles) {
    self.engine = engine
    self.original = original
    self.files = files
  }

  /// Makes the copy the store, and opens the store with its previous options.
  ///
  /// - Returns: The store; the previous engines are closed and hold no lock.
  /// - Throws: ``StorageError``; then the next opening finds either the unchanged store or the copy as the store.
  package func publish() throws(StorageError) -> StorageEngine {
    do throws(StorageError) {
      try engine.close()
    } catch {
      discard()
      throw error
    }
    // Until the new manifest's files are in place, no other process may open the store for writing.
    let lock = original.lock.withLock { $0.take() }
    try original.requireWriter().abandon()
    try files.publishManifest()
    var opening = Opening(
      paths: original.state.paths,
      options: original.state.options,
      fileSystem: original.state.fileSystem,
      onEvent: original.state.events.handler
    )
    opening.lock = lock
    return try opening.run()
  }

  /// Removes the copy, and closes the unchanged store.
  ///
  /// Files that cannot be removed now are removed at the next opening.
  package func discard() {
    try? engine.close()
    try? files.removeAll()
    try? original.close()
  }
}

extension StorageEngine {
  /// Creates a copy of the store in which to prepare a change.
  ///
  /// No process may write to the store any more; its background work ends.
  ///
  /// - Parameter progress: Called from time to time with the progress of the copy, on this thread.
  /// - Returns: The copy, open for writing.
  /// - Throws: ``StorageError``; then there is no copy.
  /// - Complexity: O(files), and the bytes of the last segment and the checkpoint; O(rows) of tables with blobs.
  package func makeStagedStore(
    progress: @escaping (MaintenanceProgress) -> Void = { _ in }
  ) throws(StorageError) -> StagedStore {
    try requireWriter().housekeeper.stop()
    let files = StagedFiles(state.paths, state.fileSystem)
    try files.removeAll()
    try backup(to: state.paths.staged, progress: progress)
    var options = state.options
    // Files superseded in the copy are still needed in the store.
    options.compaction = .onDemand
    let copy = try StorageEngine.open(
      at: state.paths.staged,
      options: options,
      fileSystem: state.fileSystem
    )
    return StagedStore(copy, of: self, files)
  }
}

extension LogWriter {
  /// Ends writing and leaves the log without its close mark: the copy's log continues from its last commit.
  fileprivate func abandon() throws(StorageError) {
    housekeeper.giveUpCompaction()
    try checkpointing.withLock { (_) throws(StorageError) in
      try lead.withLock { (lead) throws(StorageError) in
        try check(lead)
        lead.isClosed = true
        state.log.tail.withLock { $0.gate = .closed }
        // Its number is that of the copy's first segment, or lower.
        try preparation.discard()
      }
    }
    state.files.blobs.isOpen.store(false, ordering: .releasing)
  }
}

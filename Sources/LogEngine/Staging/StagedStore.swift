import Locking
import LogFormat
import Synchronization

/// A copy of a store in which a change is made that is too large for one commit, and that becomes the store all at
/// once or not at all.
///
///     let staged = try engine.makeStagedStore()
///     … staged.engine.apply(changes), staged.engine.commit(&batch), as often as need be …
///     let engine = try staged.publish()
///
/// The copy is in the store's own folder, under `staged/`, and is a whole store. It shares every file that is
/// never written again, so that making it costs hardly more than copying the end of the log; what it appends goes into
/// segments of its own, numbered on from the store's. Meanwhile the store is unchanged, and cannot be written to.
///
/// The commit point is the store's next manifest, which describes the copy. Then the copy's new files get a second
/// name in the store, and `staged/` is emptied. What a crash interrupts, the next opening for writing completes
/// (``StagedFiles/settle()``): before the manifest, by removing the copy; after it, by moving the files.
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

  /// Makes the copy the store, and opens that as it was opened before.
  ///
  /// - Returns: The store; the previous engines are closed and hold no lock.
  /// - Throws: ``StorageError``; then the store is, at its next opening, what it was or what the copy is.
  package func publish() throws(StorageError) -> StorageEngine {
    do throws(StorageError) {
      try engine.close()
    } catch {
      discard()
      throw error
    }
    // Until the new manifest's files are in their places no other process may open the store for writing.
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

  /// Removes the copy, and closes the store, which is what it was.
  ///
  /// What cannot be removed now is removed at the next opening.
  package func discard() {
    try? engine.close()
    try? files.removeAll()
    try? original.close()
  }
}

extension StorageEngine {
  /// Makes a copy of the store to prepare a change in.
  ///
  /// The store must not be written to any more, by anyone; its background work comes to an end.
  ///
  /// - Parameter progress: Told from time to time how far the copying has come, on this thread.
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
    // Whatever is superseded here is still needed there.
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
  /// Ends writing and leaves the log as it is, without the mark that it was closed: another log goes on from its
  /// last commit.
  fileprivate func abandon() throws(StorageError) {
    housekeeper.giveUpCompaction()
    try checkpointing.withLock { (_) throws(StorageError) in
      try lead.withLock { (lead) throws(StorageError) in
        try check(lead)
        lead.isClosed = true
        state.log.tail.withLock { $0.gate = .closed }
        // Its number is that of the first segment of the copy, or lies before it.
        try preparation.discard()
      }
    }
    state.files.blobs.isOpen.store(false, ordering: .releasing)
  }
}

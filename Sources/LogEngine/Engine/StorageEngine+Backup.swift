import LogFormat

extension StorageEngine {
  /// Copies the store, as of its newest commit, to another directory, while saves and reads continue.
  ///
  /// On the same file system this takes hardly any time or space: the copy shares the files that never change, and only the end
  /// of the log is copied. On another, all files are copied.
  ///
  /// The copy is an independent store: it can be opened, written, moved and removed without effect on the original. It keeps
  /// the store's identifier, from which the checksums in its files start, and gets a lineage of its own, so that the two are
  /// distinguishable once they differ. Once this returns the copy survives a power cut; before that, the directory cannot be
  /// opened as a store.
  ///
  /// In a store that several processes write, the copy has everything that any of them has committed by the time of the call:
  /// its end is found in a turn of this process, and the files are copied after it. A follower copies the commits that it has
  /// read so far; see ``refresh()``. If its writer, which knows nothing of it, takes a large value from a row before the value's
  /// file is copied, it reads on and begins again.
  ///
  /// The end of the copy is read before this returns: it holds the commit that is returned, or this throws.
  ///
  /// - Parameters:
  ///   - path: The copy's directory, which must be empty or missing. Its parent must exist.
  ///   - progress: Called from time to time with the progress, on this thread.
  /// - Returns: The last commit in the copy.
  /// - Throws: ``/LogFormat/StorageError/destinationExists(path:)`` if the destination is in use, and
  ///   ``/LogFormat/StorageError/missingFolder(path:)`` if the parent is missing;
  ///   ``/LogFormat/StorageError/noSpace(path:needed:)`` and other errors of the system, after which the copy's files are
  ///   removed again; ``/LogFormat/StorageError/corruption(_:)`` if what was copied is damaged;
  ///   ``/LogFormat/StorageError/turnTimeout(path:waited:holder:)`` if this process's turn does not come;
  ///   ``/LogFormat/StorageError/readOnly(path:)`` in a store opened up to its damage, of which
  ///   `salvage(at:to:fileSystem:reads:progress:)` of `LogTools` makes a copy.
  @discardableResult
  public func backup(
    to path: String,
    progress: @escaping (MaintenanceProgress) -> Void = { _ in }
  ) throws(StorageError) -> CommitSequence {
    let path = try state.fileSystem.resolvingLink(path)
    try Backup.check(path, on: state.fileSystem)
    for _ in 1..<Self.backupAttempts {
      let last = lastCommit
      do throws(StorageError) {
        return try backUpOnce(to: path, progress)
      } catch {
        guard writer == nil, error.saysThatBlobIsMissing, try refresh() > last else { throw error }
      }
    }
    return try backUpOnce(to: path, progress)
  }

  /// The maximum number of copies that a follower begins.
  private static let backupAttempts = 100

  private func backUpOnce(
    to path: String,
    _ progress: @escaping (MaintenanceProgress) -> Void
  ) throws(StorageError) -> CommitSequence {
    // Held until the copy is done, so that no file it needs is removed meanwhile.
    let view = makeReadView()
    defer { withExtendedLifetime(view) {} }
    let cut = try makeCut()
    assert(cut.sequence >= view.sequence, "a copy up to \(cut.sequence) of \(view.sequence)")
    try Backup(state, to: path, cut: cut, progress: progress).run()
    return cut.sequence
  }

  /// Returns the end of the log.
  ///
  /// A process that writes beside others has a follower, too, which knows nothing of what this process has written in the turn
  /// that is in progress: while it is alone, that is everything since it took the turn.
  private func makeCut() throws(StorageError) -> LogCut {
    if let writer { return try writer.cut() }
    guard let follower else { throw .readOnly(path: state.paths.root) }
    return try follower.cut()
  }
}

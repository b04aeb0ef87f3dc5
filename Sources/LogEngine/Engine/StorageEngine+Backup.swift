import LogFormat

extension StorageEngine {
  /// Copies the store, as of its newest commit, to another directory, while saves and reads go on.
  ///
  /// On the same file system this takes hardly any time or space: the copy shares the files that are
  /// never written again, and only the end of the log is copied. Elsewhere all files are.
  ///
  /// The copy is a store of its own, which may be opened, written to, moved and removed without the
  /// original noticing. It keeps the store's identifier, from which the checksums in its files start, and
  /// gets a lineage of its own, so that the two are told apart once they differ. Once this returns the
  /// copy survives a power cut; before that there is nothing there that could be opened.
  ///
  /// A follower copies what it has read so far, see ``refresh()``.
  ///
  /// - Parameters:
  ///   - path: The copy's directory: nothing may be there, or an empty directory. Its parent must exist.
  ///   - progress: Told from time to time how far it has come, on this thread.
  /// - Returns: The commit the copy ends with.
  /// - Throws: ``/LogFormat/StorageError/destinationExists(path:)`` if something is there, and
  ///   ``/LogFormat/StorageError/missingFolder(path:)`` if the parent is missing;
  ///   ``/LogFormat/StorageError/noSpace(path:needed:)`` and other errors of the system, after which the copy's
  ///   files are removed again; ``/LogFormat/StorageError/readOnly(path:)`` in a store opened up to its damage, of
  ///   which `salvage(at:to:fileSystem:reads:progress:)` of `LogTools` makes a copy.
  @discardableResult
  public func backup(
    to path: String,
    progress: @escaping (MaintenanceProgress) -> Void = { _ in }
  ) throws(StorageError) -> CommitSequence {
    let path = try state.fileSystem.resolvingLink(path)
    try Backup.check(path, on: state.fileSystem)
    // Held until the copy is done, so that nothing it needs is cleared away meanwhile.
    let view = makeReadView()
    defer { withExtendedLifetime(view) {} }
    let cut = if let follower { try follower.cut() } else { try requireWriter().cut() }
    try Backup(state, to: path, cut: cut, progress: progress).run()
    return cut.sequence
  }
}

public import LogEngine
public import LogFormat

extension StorageEngine {
  /// Checks every file of the store, and the state in memory against them.
  ///
  /// Reads all frames and records, replays the log from its beginning into a second index, folds every row,
  /// and counts the bytes that are still needed. Saves may continue meanwhile; commits made after
  /// the beginning are read, and not compared with the memory.
  ///
  /// - Parameter progress: Told from time to time how far it has come, on this thread.
  /// - Returns: Everything that is not as it should be.
  /// - Throws: ``/LogFormat/StorageError`` if the system refuses to let a file be read, for want of a permission or a descriptor.
  ///   Damage is reported, not thrown, and so is a device that cannot read its bytes.
  /// - Complexity: O(bytes of the store), and the memory of a second index.
  public func verify(
    progress: @escaping (MaintenanceProgress) -> Void = { _ in }
  ) throws(StorageError) -> VerificationReport {
    try Self.verify(state.paths, state.fileSystem, state.options.reads, state, progress)
  }

  /// Checks every file of a store that need not be open, nor in a state to be opened.
  ///
  /// Writes nothing and takes no lock: another process may have the store open.
  ///
  /// - Parameters:
  ///   - path: The store's directory.
  ///   - fileSystem: The file system that holds the store.
  ///   - reads: The way to read its bytes; ``/LogFormat/ReadMethod/copied`` for a device with media
  ///     errors, which are then reported.
  ///   - progress: Told from time to time how far it has come, on this thread.
  /// - Returns: Everything that is not as it should be.
  /// - Throws: ``/LogFormat/StorageError/missingStore(path:)`` if there is no such directory;
  ///   ``/LogFormat/StorageError/inputOutput(path:operation:errno:)`` if the system refuses to let a file be read, for want of a
  ///   permission or a descriptor. Damage is reported, not thrown, and so is a device that cannot read its bytes.
  /// - Complexity: O(bytes of the store), and the memory of its index.
  public static func verify(
    at path: String,
    fileSystem: any FileSystem = PosixFileSystem(),
    reads: EngineOptions.ReadMethod = .mapped,
    progress: @escaping (MaintenanceProgress) -> Void = { _ in }
  ) throws(StorageError) -> VerificationReport {
    try verify(StorePaths(root: fileSystem.resolvingLink(path)), fileSystem, reads, nil, progress)
  }

  private static func verify(
    _ paths: StorePaths,
    _ fileSystem: any FileSystem,
    _ reads: EngineOptions.ReadMethod,
    _ open: StoreState?,
    _ progress: @escaping (MaintenanceProgress) -> Void
  ) throws(StorageError) -> VerificationReport {
    var verification = Verification(
      paths: paths,
      fileSystem: fileSystem.withPublishedCopy(of: paths),
      reads: reads,
      progress: progress
    )
    do {
      try verification.run(open)
      return verification.report
    } catch let error as StorageError {
      throw error
    } catch {
      // Nothing below throws anything else.
      preconditionFailure("verifying threw \(error)")
    }
  }
}

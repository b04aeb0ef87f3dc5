public import LogEngine
public import LogFormat

extension StorageEngine {
  /// Copies what can be read of a damaged store to a new one.
  ///
  /// Every block of a pack, every frame and every record that has the right checksum is read, beyond any
  /// damage, and each row is put together from the newest of its versions with which that works. The new store has the old
  /// one's tables, columns and keys, so that references between rows hold; it has its own identity, no
  /// history, and only the rows. The report says what is missing or may not be the newest: look at it
  /// before the new store takes the place of the old.
  ///
  /// The damaged store is not written to. No process should be writing to it, either.
  ///
  /// - Parameters:
  ///   - source: The damaged store's directory.
  ///   - destination: The new store's: nothing may be there, or an empty directory. Its parent must exist.
  ///   - fileSystem: The file system of both.
  ///   - reads: The way to read the source; ``/LogFormat/ReadMethod/copied`` for a device with media errors.
  ///   - progress: Told from time to time how far it has come, on this thread.
  /// - Returns: The report.
  /// - Throws: ``/LogFormat/StorageError/missingStore(path:)`` if there is no source, or a folder without a file of a store;
  ///   ``/LogFormat/StorageError/corruption(_:)`` if nothing of it can be read, and then no store is made;
  ///   ``/LogFormat/StorageError/inputOutput(path:operation:errno:)`` if the system refuses to let a file be read, for want of a
  ///   permission or a descriptor: it is not lost;
  ///   ``/LogFormat/StorageError/destinationExists(path:)`` or ``/LogFormat/StorageError/missingFolder(path:)``;
  ///   what goes wrong in writing, after which what was written is removed again. A process that ends meanwhile leaves a store that is marked as
  ///   belonging to an unfinished salvage: no program opens it, and the next salvage there clears it away.
  /// - Complexity: O(bytes of the store), and eight bytes of memory a key.
  public static func salvage(
    at source: String,
    to destination: String,
    fileSystem: any FileSystem = PosixFileSystem(),
    reads: EngineOptions.ReadMethod = .mapped,
    progress: @escaping (MaintenanceProgress) -> Void = { _ in }
  ) throws(StorageError) -> SalvageReport {
    let source = StorePaths(root: try fileSystem.resolvingLink(source))
    // The new store is as private as the old one.
    let permissions = try StorePermissions(of: source, on: fileSystem) ?? .owner
    let fileSystem = fileSystem.making(permissions).withPublishedCopy(of: source)
    var salvage = Salvage(
      source: source,
      destination: try fileSystem.resolvingLink(destination),
      fileSystem: fileSystem,
      permissions: permissions,
      reads: reads,
      progress: progress
    )
    do {
      try salvage.run()
      return salvage.report
    } catch let error as StorageError {
      throw error
    } catch {
      // Nothing below throws anything else.
      preconditionFailure("salvaging threw \(error)")
    }
  }
}

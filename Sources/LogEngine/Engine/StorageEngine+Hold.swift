import LogFormat

// Deciding whether a store can be opened, before it is changed.
extension StorageEngine {
  /// Whether there is a store at a path, rather than a place for one.
  ///
  /// - Throws: ``/LogFormat/StorageError/notAStore(path:found:)`` if there is something else.
  package static func isStore(
    at path: String,
    on fileSystem: any FileSystem = PosixFileSystem()
  ) throws(StorageError) -> Bool {
    try opening(path, fileSystem).isStore()
  }

  /// Takes the lock of a store that one process writes; opening it takes the lock over.
  ///
  /// What a crash has left of a staged copy is completed or removed.
  ///
  /// - Throws: ``/LogFormat/StorageError/locked(path:holder:)`` if another process has it.
  package static func hold(
    at path: String,
    on fileSystem: any FileSystem = PosixFileSystem()
  ) throws(StorageError) -> any FileLock {
    var opening = try opening(path, fileSystem)
    return try opening.hold()
  }

  /// Takes the lock of a store that several processes write.
  ///
  /// Release it before opening the store with them; opening the store alone takes an exclusive one over, and leaves it to be
  /// released.
  ///
  /// - Parameters:
  ///   - path: The store's folder.
  ///   - kind: `exclusive` to keep all other processes out.
  ///   - fileSystem: The file system that holds the store.
  /// - Returns: The lock.
  /// - Throws: ``/LogFormat/StorageError/locked(path:holder:)`` if others hold it.
  package static func hold(
    at path: String,
    _ kind: LockKind,
    on fileSystem: any FileSystem = PosixFileSystem()
  ) throws(StorageError) -> any LockableFile {
    let opening = try opening(path, fileSystem)
    let lock = try opening.fileSystem.openLockable(opening.paths.lock)
    guard try lock.take(kind, waits: false) else {
      throw StoreHolders(opening.paths, fileSystem).refusal()
    }
    guard kind == .exclusive else { return lock }
    do throws(StorageError) {
      try opening.takeAlone()
      return lock
    } catch {
      lock.release()
      throw error
    }
  }

  private static func opening(
    _ path: String,
    _ fileSystem: any FileSystem
  ) throws(StorageError) -> Opening {
    let paths = StorePaths(root: try fileSystem.resolvingLink(path))
    var opening = Opening(paths: paths, options: EngineOptions(), fileSystem: fileSystem)
    if let permissions = try StorePermissions(of: paths, on: fileSystem) {
      opening.fileSystem = fileSystem.making(permissions)
    }
    return opening
  }
}

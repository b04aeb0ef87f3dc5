import Synchronization

/// The files of one store; names are created and removed only as long as the folder is the one whose lock is held.
///
/// A folder that is moved away while a store is open in it takes the lock's file and the open files along. All further accesses
/// by name would go to the store created in its place: that of another process, which found no lock there, and whose segments
/// and manifests have the same numbers. So before a name in the folder is created or removed, or a file opened for writing, the
/// lock is looked up under its path. Only the moment between this check and the call remains unprotected.
package struct LockedFolder: FileSystem {
  private let base: any FileSystem
  private let paths: StorePaths
  /// The prefix of all paths in the folder.
  private let prefix: String
  private let holder: Holder

  /// A weak reference to the lock, which its owner releases.
  private final class Holder: Sendable {
    private struct Reference { weak var lock: (any FileLock)? }
    private let reference: Mutex<Reference>

    init(_ lock: any FileLock) { reference = Mutex(Reference(lock: lock)) }

    var isInPlace: Bool { reference.withLock { $0.lock }?.isInPlace ?? false }
  }

  /// Creates the file system of a store.
  ///
  /// - Parameters:
  ///   - base: The file system of the folder.
  ///   - paths: The paths of the store.
  ///   - lock: The store's lock, which is held.
  package init(_ base: any FileSystem, _ paths: StorePaths, _ lock: any FileLock) {
    let known = base as? LockedFolder
    // A store that is reopened already has such a file system.
    self.base = known.flatMap { $0.paths == paths ? $0.base : nil } ?? base
    self.paths = paths
    prefix = paths.root + "/"
    holder = Holder(lock)
  }

  private init(_ base: any FileSystem, _ other: LockedFolder) {
    self.base = base
    paths = other.paths
    prefix = other.prefix
    holder = other.holder
  }

  /// Checks that a path in the folder leads to the store's own.
  private func check(_ path: String) throws(StorageError) {
    guard path.hasPrefix(prefix), !holder.isInPlace else { return }
    throw .missingFile(path: paths.lock)
  }
}

// MARK: Names

extension LockedFolder {
  package func open(_ path: String, _ mode: OpenMode) throws(StorageError) -> any OpenFile {
    if mode != .read { try check(path) }
    return try base.open(path, mode)
  }

  package func makeDirectory(_ path: String) throws(StorageError) {
    try check(path)
    try base.makeDirectory(path)
  }

  package func rename(_ path: String, to newPath: String) throws(StorageError) {
    try check(path)
    try check(newPath)
    try base.rename(path, to: newPath)
  }

  package func link(_ path: String, as newPath: String) throws(StorageError) -> Bool {
    try check(path)
    try check(newPath)
    return try base.link(path, as: newPath)
  }

  package func unlink(_ path: String) throws(StorageError) {
    try check(path)
    try base.unlink(path)
  }

  package func removeDirectory(_ path: String) throws(StorageError) {
    try check(path)
    try base.removeDirectory(path)
  }

  package func lock(_ path: String) throws(StorageError) -> (any FileLock)? {
    try check(path)
    return try base.lock(path)
  }

  package func openLockable(_ path: String) throws(StorageError) -> any LockableFile {
    try check(path)
    return try base.openLockable(path)
  }
}

// MARK: All else

extension LockedFolder {
  package func size(of path: String) throws(StorageError) -> Int? { try base.size(of: path) }
  package func status(of path: String) throws(StorageError) -> FileStatus? {
    try base.status(of: path)
  }
  package func resolvingLink(_ path: String) throws(StorageError) -> String {
    try base.resolvingLink(path)
  }
  package func making(_ permissions: StorePermissions) -> any FileSystem {
    LockedFolder(base.making(permissions), self)
  }
  package func list(_ directory: String) throws(StorageError) -> [String]? {
    try base.list(directory)
  }
  package func synchronizeDirectory(_ path: String) throws(StorageError) {
    try base.synchronizeDirectory(path)
  }
  package func networkFileSystem(of path: String) throws(StorageError) -> String? {
    try base.networkFileSystem(of: path)
  }
  package func watch(_ path: String) -> (any FileWatch)? { base.watch(path) }
  package func microseconds() -> Int64 { base.microseconds() }
  package func pause(microseconds: Int) { base.pause(microseconds: microseconds) }
  package func randomBits() -> UInt64 { base.randomBits() }
  package var memoryLimit: Int? { base.memoryLimit }
  package var holderDescription: String { base.holderDescription }
  package func hasEnded(_ holderDescription: String) -> Bool {
    base.hasEnded(holderDescription)
  }
}

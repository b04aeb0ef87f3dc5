package import LogEngine

/// A file system that hands each call to another one; a conforming type declares only the calls it changes.
///
/// Calls that ``FileSystem`` has defaults for keep these: a status is told from the wrapper's own lists and sizes.
package protocol ForwardingFileSystem: FileSystem {
  /// The file system that does the work.
  var base: any FileSystem { get }
}

extension ForwardingFileSystem {
  package func open(_ path: String, _ mode: OpenMode) throws(StorageError) -> any OpenFile {
    try base.open(path, mode)
  }
  package func size(of path: String) throws(StorageError) -> Int? { try base.size(of: path) }
  package func list(_ directory: String) throws(StorageError) -> [String]? {
    try base.list(directory)
  }
  package func makeDirectory(_ path: String) throws(StorageError) { try base.makeDirectory(path) }
  package func removeDirectory(_ path: String) throws(StorageError) {
    try base.removeDirectory(path)
  }
  package func rename(_ path: String, to newPath: String) throws(StorageError) {
    try base.rename(path, to: newPath)
  }
  package func link(_ path: String, as newPath: String) throws(StorageError) -> Bool {
    try base.link(path, as: newPath)
  }
  package func unlink(_ path: String) throws(StorageError) { try base.unlink(path) }
  package func synchronizeDirectory(_ path: String) throws(StorageError) {
    try base.synchronizeDirectory(path)
  }
  package func lock(_ path: String) throws(StorageError) -> (any FileLock)? { try base.lock(path) }
  package func openLockable(_ path: String) throws(StorageError) -> any LockableFile {
    try base.openLockable(path)
  }
  package func networkFileSystem(of path: String) throws(StorageError) -> String? {
    try base.networkFileSystem(of: path)
  }
  package func microseconds() -> Int64 { base.microseconds() }
  package func randomBits() -> UInt64 { base.randomBits() }
  package var holderDescription: String { base.holderDescription }
  package func hasEnded(_ holderDescription: String) -> Bool {
    base.hasEnded(holderDescription)
  }
}

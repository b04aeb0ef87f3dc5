import LogEngine
import LogEngineTestSupport
import Synchronization

/// A file system whose calls that make something fail from some call on.
final class FailingFileSystem: ForwardingFileSystem {
  let base: any FileSystem
  private let prefix: String
  private let left = Atomic<Int>(.max)

  /// Creates one over another file system.
  ///
  /// - Parameters:
  ///   - base: Where the files are.
  ///   - prefix: How the paths begin whose calls fail; others neither fail nor count.
  init(_ base: any FileSystem, below prefix: String = "") {
    self.base = base
    self.prefix = prefix
  }

  private let failures = Atomic<Int>(0)

  /// Whether a call failed.
  var hasFailed: Bool { failures.load(ordering: .relaxed) > 0 }

  func fail(after count: Int) { left.store(count, ordering: .relaxed) }

  private func check(_ operation: FileOperation, _ path: String) throws(StorageError) {
    guard path.hasPrefix(prefix) else { return }
    let left = left.subtract(1, ordering: .relaxed).newValue
    if left <= 0 {
      // Once is enough: what is cleared away afterwards succeeds.
      failures.add(1, ordering: .relaxed)
      self.left.store(.max, ordering: .relaxed)
      throw .inputOutput(path: path, operation: operation, errno: 5)
    }
  }

  func open(_ path: String, _ mode: OpenMode) throws(StorageError) -> any OpenFile {
    try check(.open, path)
    return try base.open(path, mode)
  }
  func size(of path: String) throws(StorageError) -> Int? {
    try check(.size, path)
    return try base.size(of: path)
  }
  func list(_ directory: String) throws(StorageError) -> [String]? {
    try check(.list, directory)
    return try base.list(directory)
  }
  func makeDirectory(_ path: String) throws(StorageError) {
    try check(.makeDirectory, path)
    try base.makeDirectory(path)
  }
  func rename(_ path: String, to newPath: String) throws(StorageError) {
    try check(.rename, path)
    try base.rename(path, to: newPath)
  }
  func link(_ path: String, as newPath: String) throws(StorageError) -> Bool {
    try check(.link, path)
    return try base.link(path, as: newPath)
  }
  func synchronizeDirectory(_ path: String) throws(StorageError) {
    try check(.synchronizeDirectory, path)
    try base.synchronizeDirectory(path)
  }
}

import LogEngine
import LogEngineTestSupport
import Synchronization

/// A file system of a process that has no descriptor left at one moment: one call that takes one is refused.
final class CrowdedFileSystem: ForwardingFileSystem {
  let base: any FileSystem
  private let state = Mutex(State())

  private struct State {
    /// How many calls took a descriptor, or were refused one.
    var count = 0
    var refused = 0
  }

  /// The error number of a process that has as many descriptors as it may have.
  static let noDescriptors: Int32 = 24

  init(_ base: any FileSystem) { self.base = base }

  /// Counts from here on, and refuses the call with a number, from 1.
  func refuse(_ number: Int) { state.withLock { $0 = State(count: 0, refused: number) } }

  /// How many calls took a descriptor since.
  var count: Int { state.withLock { $0.count } }

  /// Whether the call was made that is refused.
  var hasRefused: Bool { state.withLock { $0.count >= $0.refused } }

  private func take(_ operation: FileOperation, _ path: String) throws(StorageError) {
    let isRefused = state.withLock { state in
      state.count += 1
      return state.count == state.refused
    }
    if isRefused {
      throw .inputOutput(path: path, operation: operation, errno: Self.noDescriptors)
    }
  }

  func open(_ path: String, _ mode: OpenMode) throws(StorageError) -> any OpenFile {
    try take(.open, path)
    return try base.open(path, mode)
  }
  func list(_ directory: String) throws(StorageError) -> [String]? {
    try take(.list, directory)
    return try base.list(directory)
  }
  func synchronizeDirectory(_ path: String) throws(StorageError) {
    try take(.open, path)
    try base.synchronizeDirectory(path)
  }
  func openLockable(_ path: String) throws(StorageError) -> any LockableFile {
    try take(.lock, path)
    return try base.openLockable(path)
  }
}

import LogEngine
import LogEngineTestSupport
import Synchronization

/// A file system that lets something happen before each of its calls: what another process would do at
/// just that moment.
///
/// It does not map files, so that every look at one is a call.
final class HookedFileSystem: ForwardingFileSystem {
  let base: any FileSystem
  private let hook: @Sendable (Call) throws -> Void
  /// Called when a synchronization of a file has failed, before anybody is told.
  private let didFail: @Sendable (Call) -> Void
  private let count = Atomic<Int>(0)
  /// What files were told to fetch.
  let hints = Mutex<[Range<Int>]>([])
  private let failure = Mutex<(any Error)?>(nil)

  struct Call: Sendable {
    /// Counted from 1.
    var number: Int
    var operation: FileOperation
    var path: String
    /// How many bytes are to be read.
    var byteCount = 0
  }

  init(
    _ base: any FileSystem,
    didFail: @escaping @Sendable (Call) -> Void = { _ in },
    hook: @escaping @Sendable (Call) throws -> Void
  ) {
    self.base = base
    self.didFail = didFail
    self.hook = hook
  }

  /// How many calls were made.
  var callCount: Int { count.load(ordering: .relaxed) }

  /// Throws what a hook threw.
  func rethrow() throws { if let error = failure.withLock({ $0 }) { throw error } }

  func willCall(_ operation: FileOperation, _ path: String, byteCount: Int = 0) {
    let number = count.add(1, ordering: .relaxed).newValue
    do {
      try hook(Call(number: number, operation: operation, path: path, byteCount: byteCount))
    } catch {
      failure.withLock { $0 = $0 ?? error }
    }
  }

  func didFail(_ operation: FileOperation, _ path: String) {
    didFail(Call(number: callCount, operation: operation, path: path))
  }

  func open(_ path: String, _ mode: OpenMode) throws(StorageError) -> any OpenFile {
    willCall(.open, path)
    return HookedFile(try base.open(path, mode), self)
  }
  func size(of path: String) throws(StorageError) -> Int? {
    willCall(.size, path)
    return try base.size(of: path)
  }
  func list(_ directory: String) throws(StorageError) -> [String]? {
    willCall(.list, directory)
    return try base.list(directory)
  }
  func makeDirectory(_ path: String) throws(StorageError) {
    willCall(.makeDirectory, path)
    try base.makeDirectory(path)
  }
  func rename(_ path: String, to newPath: String) throws(StorageError) {
    willCall(.rename, newPath)
    try base.rename(path, to: newPath)
  }
  func link(_ path: String, as newPath: String) throws(StorageError) -> Bool {
    willCall(.link, newPath)
    return try base.link(path, as: newPath)
  }
  func unlink(_ path: String) throws(StorageError) {
    willCall(.unlink, path)
    try base.unlink(path)
  }
  func synchronizeDirectory(_ path: String) throws(StorageError) {
    willCall(.synchronizeDirectory, path)
    try base.synchronizeDirectory(path)
  }
  func lock(_ path: String) throws(StorageError) -> (any FileLock)? {
    willCall(.lock, path)
    return try base.lock(path)
  }
}

private final class HookedFile: OpenFile {
  private let base: any OpenFile
  private let fileSystem: HookedFileSystem

  init(_ base: any OpenFile, _ fileSystem: HookedFileSystem) {
    self.base = base
    self.fileSystem = fileSystem
  }

  var path: String { base.path }
  func size() throws(StorageError) -> Int {
    fileSystem.willCall(.size, path)
    return try base.size()
  }
  func read(into buffer: inout MutableRawSpan, at offset: Int) throws(StorageError) -> Int {
    fileSystem.willCall(.read, path, byteCount: buffer.byteCount)
    return try base.read(into: &buffer, at: offset)
  }
  func write(_ bytes: RawSpan, at offset: Int) throws(StorageError) -> Int {
    fileSystem.willCall(.write, path)
    return try base.write(bytes, at: offset)
  }
  func synchronize() throws(StorageError) {
    fileSystem.willCall(.synchronize, path)
    do throws(StorageError) {
      try base.synchronize()
    } catch {
      fileSystem.didFail(.synchronize, path)
      throw error
    }
  }
  func allocate(_ size: Int) throws(StorageError) {
    fileSystem.willCall(.allocate, path)
    try base.allocate(size)
  }
  func setSize(_ size: Int) throws(StorageError) {
    fileSystem.willCall(.truncate, path)
    try base.setSize(size)
  }
  func map(_ count: Int, _ kind: MappingKind) throws(StorageError) -> MappedFile? { nil }
  func willRead(_ range: Range<Int>) { fileSystem.hints.withLock { $0.append(range) } }
}

import Synchronization

/// Files that live as long as this object: for stores that never reach a disk, and for tests.
///
/// Copies of the value share the files. Synchronizing does nothing, since nothing can be lost.
public struct InMemoryFileSystem: FileSystem {
  private let state = SharedState()

  /// Creates a file system without files.
  public init() {}

  private final class SharedState: Sendable {
    let names = Mutex<Names>(Names())
  }

  private struct Names {
    var files: [String: InMemoryContents] = [:]
    var directories: Set<String> = []
    var locked: Set<String> = []
  }

  public func open(_ path: String, _ mode: OpenMode) throws(StorageError) -> any OpenFile {
    let contents = state.names.withLock { names -> InMemoryContents? in
      if mode == .create { names.files[path] = InMemoryContents() }
      return names.files[path]
    }
    guard let contents else { throw .missingFile(path: path) }
    return InMemoryFile(path: path, contents: contents)
  }

  public func size(of path: String) throws(StorageError) -> Int? {
    state.names.withLock { $0.files[path] }?.size
  }

  public func list(_ directory: String) throws(StorageError) -> [String]? {
    let prefix = directory + "/"
    return state.names.withLock { names -> [String]? in
      guard names.directories.contains(directory) else { return nil }
      return (Array(names.files.keys) + Array(names.directories)).compactMap { path in
        guard path.hasPrefix(prefix) else { return nil }
        let name = path.dropFirst(prefix.count)
        return name.contains("/") ? nil : String(name)
      }
    }
  }

  public func makeDirectory(_ path: String) throws(StorageError) {
    _ = state.names.withLock { $0.directories.insert(path) }
  }

  public func rename(_ path: String, to newPath: String) throws(StorageError) {
    let found = state.names.withLock { names -> Bool in
      guard let contents = names.files.removeValue(forKey: path) else { return false }
      names.files[newPath] = contents
      return true
    }
    if !found { throw .missingFile(path: path) }
  }

  public func link(_ path: String, as newPath: String) throws(StorageError) -> Bool {
    let found = state.names.withLock { names -> Bool in
      guard let contents = names.files[path] else { return false }
      names.files[newPath] = contents
      return true
    }
    if !found { throw .missingFile(path: path) }
    return true
  }

  public func unlink(_ path: String) throws(StorageError) {
    _ = state.names.withLock { $0.files.removeValue(forKey: path) }
  }

  public func removeDirectory(_ path: String) throws(StorageError) {
    guard try list(path)?.isEmpty == true else { return }
    _ = state.names.withLock { $0.directories.remove(path) }
  }

  public func synchronizeDirectory(_ path: String) throws(StorageError) {}

  public func lock(_ path: String) throws(StorageError) -> (any FileLock)? {
    let taken = state.names.withLock { names -> Bool in
      if names.files[path] == nil { names.files[path] = InMemoryContents() }
      return names.locked.insert(path).inserted
    }
    guard taken else { return nil }
    return InMemoryLock { [state] in
      _ = state.names.withLock { $0.locked.remove(path) }
    }
  }

  public func microseconds() -> Int64 { PosixFileSystem().microseconds() }
  public func randomBits() -> UInt64 { PosixFileSystem().randomBits() }
  public var holderDescription: String { PosixFileSystem().holderDescription }
}

private final class InMemoryLock: FileLock {
  private let release: @Sendable () -> Void
  init(release: @escaping @Sendable () -> Void) { self.release = release }
  deinit { release() }
}

/// The bytes of one file, whatever its names.
private final class InMemoryContents: Sendable {
  private let state = Mutex<State>(State())

  private struct State {
    var memory = InMemoryBytes(capacity: 0)
    var size = 0
  }

  var size: Int { state.withLock { $0.size } }

  func read(into buffer: inout MutableRawSpan, at offset: Int) -> Int {
    let (memory, size) = state.withLock { ($0.memory, $0.size) }
    let count = max(0, min(buffer.byteCount, size - offset))
    unsafe buffer.withUnsafeMutableBytes { unsafe memory.copy(offset, count, to: $0) }
    return count
  }

  func write(_ bytes: RawSpan, at offset: Int) {
    let count = bytes.byteCount
    state.withLock { state in
      grow(&state, to: offset + count)
      state.memory.store(bytes, at: offset)
    }
  }

  func setSize(_ size: Int) {
    state.withLock { state in
      if size < state.size {
        state.memory.clear(size..<state.size)
        state.size = size
      } else {
        grow(&state, to: size)
      }
    }
  }

  func map(_ count: Int) -> InMemoryBytes? {
    state.withLock { $0.memory.capacity >= count ? $0.memory : nil }
  }

  /// Moves the bytes to a larger buffer; mappings of the old one keep it unchanged.
  private func grow(_ state: inout State, to size: Int) {
    if size > state.memory.capacity {
      let bigger = InMemoryBytes(capacity: max(size, state.memory.capacity * 2))
      bigger.copyAll(from: state.memory)
      state.memory = bigger
    }
    state.size = max(state.size, size)
  }
}

/// Zero-filled memory that does not move.
@safe private final class InMemoryBytes: @unchecked Sendable {
  let base: UnsafeMutableRawPointer
  let capacity: Int

  init(capacity: Int) {
    // Page-aligned, like a mapping; `calloc` leaves untouched zeros to the system.
    let size = (capacity + 4095) / 4096 * 4096 + 4096
    unsafe base = .allocate(byteCount: size, alignment: 4096)
    unsafe base.initializeMemory(as: UInt8.self, repeating: 0, count: size)
    self.capacity = size
  }

  deinit { unsafe base.deallocate() }

  func copy(_ offset: Int, _ count: Int, to target: UnsafeMutableRawBufferPointer) {
    guard count > 0 else { return }
    unsafe target.copyMemory(from: UnsafeRawBufferPointer(start: base + offset, count: count))
  }

  func store(_ bytes: RawSpan, at offset: Int) {
    unsafe bytes.withUnsafeBytes { source in
      guard let start = source.baseAddress else { return }
      unsafe (base + offset).copyMemory(from: start, byteCount: source.count)
    }
  }

  func clear(_ range: Range<Int>) {
    unsafe (base + range.lowerBound).initializeMemory(
      as: UInt8.self,
      repeating: 0,
      count: range.count
    )
  }

  func copyAll(from other: InMemoryBytes) {
    unsafe base.copyMemory(from: other.base, byteCount: min(capacity, other.capacity))
  }
}

private final class InMemoryFile: OpenFile {
  let path: String
  private let contents: InMemoryContents

  init(path: String, contents: InMemoryContents) {
    self.path = path
    self.contents = contents
  }

  func size() throws(StorageError) -> Int { contents.size }

  func read(into buffer: inout MutableRawSpan, at offset: Int) throws(StorageError) -> Int {
    contents.read(into: &buffer, at: offset)
  }

  func write(_ bytes: RawSpan, at offset: Int) throws(StorageError) -> Int {
    contents.write(bytes, at: offset)
    return bytes.byteCount
  }

  func synchronize() throws(StorageError) {}

  func allocate(_ size: Int) throws(StorageError) {
    if size > contents.size { contents.setSize(size) }
  }

  func setSize(_ size: Int) throws(StorageError) { contents.setSize(size) }

  func map(_ count: Int, _ kind: MappingKind) throws(StorageError) -> MappedFile? {
    guard let memory = contents.map(count) else { return nil }
    if kind == .sharedReadOnly {
      return unsafe MappedFile(base: memory.base, count: count) { _ = memory }
    }
    let copy = InMemoryBytes(capacity: count)
    copy.copyAll(from: memory)
    return unsafe MappedFile(base: copy.base, count: count) { _ = copy }
  }
}

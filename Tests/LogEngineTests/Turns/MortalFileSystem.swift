import Foundation
import LogEngine
import LogEngineTestSupport
import RowFormat
import Synchronization

/// The file system as one process sees it, which may be killed: then no call has an effect any more, the last one
/// perhaps had half of it, and its locks are free.
///
/// For processes that run in turns on one thread: nobody waits for a lock.
final class MortalFileSystem: ForwardingFileSystem {
  let base: any FileSystem
  private let locks: LockBoard
  /// How many calls that change something are left; the last one has half its effect.
  private let left = Atomic<Int>(.max)

  init(_ base: any FileSystem, _ locks: LockBoard) {
    self.base = base
    self.locks = locks
  }

  /// Lets so many more calls change something.
  func live(for count: Int) { left.store(count, ordering: .relaxed) }

  /// Whether the process was killed.
  var isDead: Bool { left.load(ordering: .relaxed) <= 0 }

  /// Kills the process.
  func kill() {
    left.store(0, ordering: .relaxed)
    locks.releaseAll(of: ObjectIdentifier(self))
  }

  static let death = StorageError.inputOutput(path: "a killed process", operation: .write, errno: 5)

  /// - Returns: Whether the call is the last, and has half its effect.
  fileprivate func spend() throws(StorageError) -> Bool {
    if isDead { throw Self.death }
    guard left.load(ordering: .relaxed) != .max else { return false }
    if left.subtract(1, ordering: .relaxed).newValue > 0 { return false }
    locks.releaseAll(of: ObjectIdentifier(self))
    return true
  }

  private func change(_ body: () throws(StorageError) -> Void) throws(StorageError) {
    if try !spend() { return try body() }
    throw Self.death
  }

  func open(_ path: String, _ mode: OpenMode) throws(StorageError) -> any OpenFile {
    if isDead { throw Self.death }
    if mode == .create, try spend() { throw Self.death }
    return MortalFile(try base.open(path, mode), mode, self)
  }
  func makeDirectory(_ path: String) throws(StorageError) {
    try change { () throws(StorageError) in try base.makeDirectory(path) }
  }
  func rename(_ path: String, to newPath: String) throws(StorageError) {
    try change { () throws(StorageError) in try base.rename(path, to: newPath) }
  }
  func unlink(_ path: String) throws(StorageError) {
    try change { () throws(StorageError) in try base.unlink(path) }
  }
  func lock(_ path: String) throws(StorageError) -> (any FileLock)? {
    let lock = try openLockable(path)
    return try lock.take(.exclusive, waits: false) ? lock : nil
  }
  func openLockable(_ path: String) throws(StorageError) -> any LockableFile {
    if isDead { throw Self.death }
    if try base.size(of: path) == nil { _ = try base.open(path, .create) }
    return MortalLock(path, self, locks)
  }
}

/// The locks of all processes.
final class LockBoard: Sendable {
  fileprivate struct Holder: Hashable, Sendable {
    let process: ObjectIdentifier
    let lock: ObjectIdentifier
    let kind: LockKind
  }

  private let holders = Mutex<[String: Set<Holder>]>([:])

  fileprivate func take(_ path: String, _ holder: Holder) -> Bool {
    holders.withLock { holders in
      let others = (holders[path] ?? []).filter { $0.lock != holder.lock }
      guard others.allSatisfy({ $0.kind == .shared && holder.kind == .shared }) else {
        return false
      }
      holders[path] = others.union([holder])
      return true
    }
  }

  fileprivate func release(_ path: String, _ lock: ObjectIdentifier) {
    holders.withLock { $0[path] = $0[path]?.filter { $0.lock != lock } }
  }

  fileprivate func releaseAll(of process: ObjectIdentifier) {
    holders.withLock { holders in
      for path in holders.keys { holders[path] = holders[path]?.filter { $0.process != process } }
    }
  }
}

private final class MortalLock: LockableFile {
  private let path: String
  private let process: MortalFileSystem
  private let locks: LockBoard

  init(_ path: String, _ process: MortalFileSystem, _ locks: LockBoard) {
    self.path = path
    self.process = process
    self.locks = locks
  }

  func take(_ kind: LockKind, waits: Bool) throws(StorageError) -> Bool {
    if process.isDead { throw MortalFileSystem.death }
    let holder = LockBoard.Holder(
      process: ObjectIdentifier(process),
      lock: ObjectIdentifier(self),
      kind: kind
    )
    let isTaken = locks.take(path, holder)
    precondition(isTaken || !waits, "nobody would let go of \(path)")
    return isTaken
  }

  func release() { locks.release(path, ObjectIdentifier(self)) }

  deinit { release() }
}

private final class MortalFile: OpenFile {
  private let base: any OpenFile
  private let mode: OpenMode
  private let process: MortalFileSystem

  init(_ base: any OpenFile, _ mode: OpenMode, _ process: MortalFileSystem) {
    self.base = base
    self.mode = mode
    self.process = process
  }

  var path: String { base.path }
  func size() throws(StorageError) -> Int { try base.size() }
  func read(into buffer: inout MutableRawSpan, at offset: Int) throws(StorageError) -> Int {
    try base.read(into: &buffer, at: offset)
  }
  func write(_ bytes: RawSpan, at offset: Int) throws(StorageError) -> Int {
    guard mode != .read else {
      throw .inputOutput(path: path, operation: .write, errno: EBADF)
    }
    guard try process.spend() else { return try base.write(bytes, at: offset) }
    // What is written within a page is written whole.
    let half = bytes.byteCount > 512 ? bytes.byteCount / 2 : 0
    if half > 0 { _ = try base.write(bytes.extracting(0..<half), at: offset) }
    throw MortalFileSystem.death
  }
  func synchronize() throws(StorageError) {
    if try process.spend() { throw MortalFileSystem.death }
    try base.synchronize()
  }
  func allocate(_ size: Int) throws(StorageError) {
    if try process.spend() { throw MortalFileSystem.death }
    try base.allocate(size)
  }
  func setSize(_ size: Int) throws(StorageError) {
    if try process.spend() { throw MortalFileSystem.death }
    try base.setSize(size)
  }
  func map(_ count: Int, _ kind: MappingKind) throws(StorageError) -> MappedFile? {
    try base.map(count, kind)
  }
}

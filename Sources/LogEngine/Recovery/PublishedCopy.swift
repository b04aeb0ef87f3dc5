package import LogFormat
import Synchronization

/// A store's files as a reader has to see them while a staged copy becomes the store.
///
/// The manifest that makes the copy the store comes before its files, which get their names in the store one by one; if the process
/// that does so is killed, the rest keep their names under `staged/` until the store is next opened for writing. A file in `log/`,
/// `pack/`, `blobs/` or `index/` is meanwhile the one of that name in the copy, if there is one. The store's own checkpoints are of
/// another end of the log, and do not count.
///
/// Each access asks anew whether that is so, until it is not: a later copy means nothing before it is published.
package struct PublishedCopy: FileSystem {
  private let base: any FileSystem
  private let store: StorePaths
  private let staged: StorePaths
  private let phase: Phase

  /// Whether the copy's files may still be without their names; shared by all copies of the value.
  private final class Phase: Sendable {
    let isOver = Atomic<Bool>(false)
  }

  fileprivate init(_ base: any FileSystem, of store: StorePaths) {
    self.init(base, store, Phase())
  }

  private init(_ base: any FileSystem, _ store: StorePaths, _ phase: Phase) {
    self.base = base
    self.store = store
    staged = StorePaths(root: store.staged)
    self.phase = phase
  }

  private var isInEffect: Bool {
    if phase.isOver.load(ordering: .relaxed) { return false }
    if StagedFiles(store, base).areBeingPublished { return true }
    phase.isOver.store(true, ordering: .relaxed)
    return false
  }

  /// The path that a file or folder of the store has in the copy; `nil` if it has none, or the copy has become the store.
  private func copied(_ path: String) -> String? {
    let folders = [store.log, store.packs, store.blobs, store.index]
    guard folders.contains(where: { path == $0 || path.hasPrefix($0 + "/") }), isInEffect
    else { return nil }
    return staged.root + path.dropFirst(store.root.count)
  }
}

extension FileSystem {
  /// The files of a store with those of a published copy that have no names in it yet; as they are, if there is none.
  ///
  /// - Complexity: One call, unless the store has a staged copy.
  package func withPublishedCopy(of store: StorePaths) -> any FileSystem {
    if self is PublishedCopy { return self }
    return StagedFiles(store, self).areBeingPublished ? PublishedCopy(self, of: store) : self
  }
}

// MARK: Files that may be in the copy

extension PublishedCopy {
  package func open(_ path: String, _ mode: OpenMode) throws(StorageError) -> any OpenFile {
    if mode == .read, let copied = copied(path) {
      do throws(StorageError) {
        return try base.open(copied, mode)
      } catch .missingFile {
        // The copy shares it, or has lost it to the store meanwhile.
      }
    }
    return try base.open(path, mode)
  }

  package func size(of path: String) throws(StorageError) -> Int? {
    if let copied = copied(path), let size = try base.size(of: copied) { return size }
    return try base.size(of: path)
  }

  package func status(of path: String) throws(StorageError) -> FileStatus? {
    if let copied = copied(path), let status = try base.status(of: copied) { return status }
    return try base.status(of: path)
  }

  package func link(_ path: String, as newPath: String) throws(StorageError) -> Bool {
    if let copied = copied(path) {
      do throws(StorageError) {
        return try base.link(copied, as: newPath)
      } catch .missingFile {
        // As when it is opened.
      }
    }
    return try base.link(path, as: newPath)
  }

  package func list(_ directory: String) throws(StorageError) -> [String]? {
    if directory == store.root, isInEffect {
      // The copy is the store, and not something in it.
      guard var names = try base.list(directory) else { return nil }
      names.removeAll { directory + "/" + $0 == staged.root }
      if try base.list(staged.blobs) != nil, try base.list(store.blobs) == nil {
        names.append("blobs")
      }
      return names
    }
    guard let copied = copied(directory), let names = try base.list(copied) else {
      return try base.list(directory)
    }
    if directory == store.index { return names }
    // In this order: a name that goes from the copy is in the store by then.
    return Array(Set(names).union(try base.list(directory) ?? []))
  }
}

// MARK: All else

extension PublishedCopy {
  package func making(_ permissions: StorePermissions) -> any FileSystem {
    PublishedCopy(base.making(permissions), store, phase)
  }
  package func resolvingLink(_ path: String) throws(StorageError) -> String {
    try base.resolvingLink(path)
  }
  package func makeDirectory(_ path: String) throws(StorageError) { try base.makeDirectory(path) }
  package func rename(_ path: String, to newPath: String) throws(StorageError) {
    try base.rename(path, to: newPath)
  }
  package func unlink(_ path: String) throws(StorageError) { try base.unlink(path) }
  package func removeDirectory(_ path: String) throws(StorageError) {
    try base.removeDirectory(path)
  }
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
  package func watch(_ path: String) -> (any FileWatch)? { base.watch(path) }
  package func microseconds() -> Int64 { base.microseconds() }
  package func pause(microseconds: Int) { base.pause(microseconds: microseconds) }
  package func randomBits() -> UInt64 { base.randomBits() }
  package var memoryLimit: Int? { base.memoryLimit }
  package var holderDescription: String { base.holderDescription }
  package func hasEnded(_ holderDescription: String) -> Bool { base.hasEnded(holderDescription) }
}

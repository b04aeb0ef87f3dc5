import Locking
import LogFormat
import RowFormat
import Synchronization

/// The folder of blobs of an open store: numbers, names, and the files to be removed.
///
/// Invariants:
///
/// - A blob belongs to one column of one row. No other row ever refers to it, so it can go when that
///   row does.
/// - A file in the folder whose number is lower than those of this session is referred to by a row as of the opening, or by
///   none.
/// - A file is removed only once the commit that took it from its row is on disk and no reader sees the state before that
///   commit.
final class Blobs: Sendable {
  let paths: StorePaths
  let fileSystem: any FileSystem
  let store: StoreIdentifier
  let synchronizes: Bool
  /// The number of the next blob.
  private let next = Atomic<UInt64>(1)
  private let prepared = Lock(Directories(), .blobFolders)
  let retired = Lock(RetiredBlobs(), .retiredBlobs)
  /// Whether a sweep is due or unfinished.
  let isUnswept = Atomic<Bool>(false)
  /// Whether a file could not be removed.
  let hasLeftovers = Atomic<Bool>(false)
  /// Whether other processes have written the store in this session: only they know which files they left behind.
  let hasForeignTurns = Atomic<Bool>(false)
  /// The number of commits and batches that may still leave files behind.
  let unsettledCount = Atomic<Int>(0)
  /// Whether this process may write the store; afterwards another process may mint the same numbers.
  let isOpen = Atomic<Bool>(true)

  /// Whether there may be files that no row owns, for a later sweep to find.
  var mayHaveOrphans: Bool {
    isUnswept.load(ordering: .relaxed) || hasLeftovers.load(ordering: .relaxed)
      || hasForeignTurns.load(ordering: .relaxed)
      || unsettledCount.load(ordering: .acquiring) > 0 || retired.withLock { $0.count > 0 }
  }

  private struct Directories {
    /// The directories that exist and whose names are on disk.
    var ready: Set<UInt8> = []
    /// The directories with removals that are not synchronized yet.
    var changed: Set<UInt8> = []
  }

  init(
    paths: StorePaths,
    fileSystem: any FileSystem,
    store: StoreIdentifier,
    synchronizes: Bool
  ) {
    self.paths = paths
    self.fileSystem = fileSystem
    self.store = store
    self.synchronizes = synchronizes
  }
}

// MARK: Numbers

extension Blobs {
  /// The number of the next blob.
  var nextID: BlobID { BlobID(rawValue: next.load(ordering: .relaxed)) }

  /// Reserves the next number.
  func mint() -> BlobID { BlobID(rawValue: next.add(1, ordering: .relaxed).oldValue) }

  /// Records that numbers before this one may be in use.
  func record(next id: BlobID) {
    guard id.isValid else { return }
    next.max(id.rawValue, ordering: .relaxed)
  }

  /// Records a number that is in use.
  func record(_ id: BlobID) { record(next: BlobID(rawValue: id.rawValue + 1)) }

  /// Reserves every number up to this one.
  ///
  /// - Returns: The numbers that were still free.
  func claim(upTo id: BlobID) -> Range<UInt64> {
    guard id.isValid else { return 0..<0 }
    let end = id.rawValue + 1
    let first = next.max(end, ordering: .relaxed).oldValue
    return first..<max(first, end)
  }
}

// MARK: Files

extension Blobs {
  func makeWriter(_ id: BlobID, byteCount: Int?) throws(StorageError) -> BlobWriter {
    guard id.isValid else {
      throw .tooLarge(byteCount: Int(clamping: id.rawValue), limit: Int(BlobID.maximum.rawValue))
    }
    return try BlobWriter(
      id,
      at: paths.temporary(blob: id),
      byteCount: byteCount,
      fileSystem,
      store
    )
  }

  /// Gives a synchronized file its name; ``synchronizeNames(of:)`` then keeps it.
  func publish(_ id: BlobID) throws(StorageError) {
    let directory = StorePaths.directory(of: id)
    try prepared.withLock { (directories) throws(StorageError) in
      if directories.ready.contains(directory) { return }
      // Even if the directory exists: its creator may have died before synchronizing the name.
      if directories.ready.isEmpty {
        try fileSystem.makeDirectory(paths.blobs)
        try synchronizeNames(in: paths.root)
      }
      try fileSystem.makeDirectory(paths.blobs(in: directory))
      try synchronizeNames(in: paths.blobs)
      directories.ready.insert(directory)
    }
    try fileSystem.rename(paths.temporary(blob: id), to: paths.blob(id))
  }

  /// Synchronizes the directories of some blobs, each one once.
  func synchronizeNames(of ids: [BlobID]) throws(StorageError) {
    for directory in Set(ids.map(StorePaths.directory(of:))).sorted() {
      try synchronizeNames(in: paths.blobs(in: directory))
    }
  }

  /// - Throws: ``StorageError``, but never ``StorageError/noSpace(path:needed:)``: a commit that finds no room is tried again,
  ///   and a failed synchronization must not be.
  private func synchronizeNames(in directory: String) throws(StorageError) {
    guard synchronizes else { return }
    do throws(StorageError) {
      try fileSystem.synchronizeDirectory(directory)
    } catch .noSpace(let path, _) {
      throw .fullDevice(path: path, during: .synchronizeDirectory)
    }
  }

  func remove(_ id: BlobID) throws(StorageError) {
    try fileSystem.unlink(paths.blob(id))
    prepared.withLock { _ = $0.changed.insert(StorePaths.directory(of: id)) }
  }

  /// Removes a file; one that cannot be removed stays until a sweep finds it.
  func removeOrLeave(_ id: BlobID) {
    do throws(StorageError) {
      try remove(id)
    } catch {
      hasLeftovers.store(true, ordering: .relaxed)
    }
  }

  func removeTemporary(_ id: BlobID) throws(StorageError) {
    try fileSystem.unlink(paths.temporary(blob: id))
  }

  /// Synchronizes the directories that files were removed from.
  func synchronizeRemovals() throws(StorageError) {
    guard synchronizes else { return }
    let changed = prepared.withLock { directories in
      defer { directories.changed.removeAll() }
      return directories.changed
    }
    for directory in changed.sorted() {
      try fileSystem.synchronizeDirectory(paths.blobs(in: directory))
    }
  }

  /// Whether a folder of blobs contains nothing but empty directories.
  static func isEmpty(
    _ paths: StorePaths,
    _ fileSystem: any FileSystem
  ) throws(StorageError) -> Bool {
    for name in try fileSystem.list(paths.blobs) ?? [] {
      guard try fileSystem.list(paths.blobs + "/" + name)?.isEmpty ?? false else { return false }
    }
    return true
  }

  /// Returns the numbers of the existing directories.
  func directories() throws(StorageError) -> [UInt8] {
    try (fileSystem.list(paths.blobs) ?? []).compactMap { name in
      name.utf8.count == 2 ? UInt8(name, radix: 16) : nil
    }
  }

  /// Returns the blobs with a file in one of the 256 directories, in no particular order.
  ///
  /// Skips other names and misplaced files.
  func list(_ directory: UInt8) throws(StorageError) -> [BlobID] {
    let names = try fileSystem.list(paths.blobs(in: directory)) ?? []
    return names.compactMap { name in
      guard let number = StorePaths.number(in: name, suffix: StorePaths.blobSuffix) else {
        return nil
      }
      let id = BlobID(rawValue: number)
      return id.isValid && StorePaths.directory(of: id) == directory ? id : nil
    }
  }
}

import Foundation
import LibC
import ModelRuntime

/// The place of a store, however its path was spelled, and the identity of the store there.
struct StorePlace: Hashable, Sendable {
  /// The folder's path, without symbolic links.
  let path: String
  /// The file number of the store's lock; `nil` if there is none yet.
  ///
  /// Not that of the folder: the number of a folder that was removed is given to the next one, while that of a lock is not
  /// as long as it is held.
  let lock: FileNumber?
  /// Whether it is on disk.
  private let isFolder: Bool

  /// The identity of a file on the machine.
  struct FileNumber: Hashable, Sendable {
    let device: UInt64
    let file: UInt64

    init?(_ path: String) {
      var status = stat()
      guard unsafe stat(path, &status) == 0 else { return nil }
      device = UInt64(truncatingIfNeeded: status.st_dev)
      file = UInt64(truncatingIfNeeded: status.st_ino)
    }
  }

  init(_ url: URL) {
    self.init(path: FolderPath.resolved(url))
  }

  private init(path: String) {
    self.path = path
    lock = FileNumber(path + "/LOCK")
    isFolder = true
  }

  /// The place of a store in memory.
  init(inMemory name: String) {
    path = name
    lock = nil
    isFolder = false
  }

  /// The same place as it is now.
  var now: StorePlace { isFolder ? StorePlace(path: path) : self }

  /// Whether the store that was here is gone, or has been replaced by another.
  var isReplaced: Bool { now.lock != lock }

  /// Whether two stores that are open at once would be one.
  func isSame(as other: StorePlace) -> Bool {
    isFolder == other.isFolder && (path == other.path || lock != nil && lock == other.lock)
  }
}

import Foundation
import LibC

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
    self.init(path: StorePlace.canonicalPath(url.standardizedFileURL.path))
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

  /// The path without symbolic links, as far as there is something in it.
  private static func canonicalPath(_ path: String) -> String {
    // The end that does not exist yet, a slash before each name.
    var rest = ""
    var depth = 0
    var known = path[...]
    while true {
      if let real = unsafe realpath(String(known), nil) {
        defer { unsafe free(real) }
        let root = unsafe String(cString: real)
        return root == "/" && !rest.isEmpty ? rest : root + rest
      }
      guard let slash = known.lastIndex(of: "/") else { return path }
      rest = String(known[slash...]) + rest
      known = slash == known.startIndex ? "/" : known[..<slash]
      depth += 1
      if depth > 4096 { return path }
    }
  }
}

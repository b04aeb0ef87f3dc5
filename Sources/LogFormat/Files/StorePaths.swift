import RowFormat

/// The paths in a store's directory.
///
///     LOCK                      the writer's lock, with a description of its process
///     manifest.<number>         the list of the store's files; the highest number counts
///     log/<segment>.seg         the log
///     pack/<pack>.pack          packed rows
///     index/<checkpoint>.ckpt   the position of each row's newest record; disposable
///     index/<digest>.keys       the keys of a secondary index; disposable
///     index/<digest>.words      the words of a column of texts; disposable
///     blobs/<xx>/<blob>.blob    values too large for the log; <xx> is digits 13 and 14 of <blob>
///     TURN                      the turn to write, with several processes
///     COMPACTION                locked by the process that compacts, of several
///     members/<number>          locked by a process, of several that write
///     members/SYNC              locked by the member that synchronizes the log for all
///     members/WAIT0, WAIT1      locked by the same member in turn: the others wait for it there
///     tmp/                      files that do not belong to the store yet
///     staged/                   a ``StagedStore`` while there is one, of the same structure
///
/// Numbers are sixteen hexadecimal digits.
package struct StorePaths: Hashable, Sendable {
  package let root: String

  package init(root: String) {
    self.root = root
  }

  package var lock: String { root + "/LOCK" }
  package var turn: String { root + "/TURN" }
  package var compaction: String { root + "/COMPACTION" }
  /// The names of the lock files in the root, which are not part of the store's contents.
  package static let lockNames: Set<String> = ["LOCK", "TURN", "COMPACTION"]
  package var members: String { root + "/members" }
  package func member(_ number: UInt16) -> String {
    members + "/" + hexadecimal(UInt64(number), digits: 4)
  }
  /// The members' common record of the log's durable end.
  package var synchronization: String { members + "/" + StorePaths.synchronizationName }
  package static let synchronizationName = "SYNC"
  /// The files whose locks the members wait for that wait for a synchronization.
  package var waits: [String] { StorePaths.waitNames.map { members + "/" + $0 } }
  package static let waitNames = ["WAIT0", "WAIT1"]
  package var log: String { root + "/log" }
  package var index: String { root + "/index" }
  package var blobs: String { root + "/blobs" }
  package var temporary: String { root + "/tmp" }
  package var packs: String { root + "/pack" }
  package var staged: String { root + "/staged" }
  package var directories: [String] { [log, packs, index, temporary] }
  /// The parent directory of the store.
  package var parent: String {
    guard let slash = root.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == root.startIndex ? "/" : String(root[..<slash])
  }

  /// Creates the store's own directory, unless it exists.
  ///
  /// - Throws: ``StorageError/missingFolder(path:)`` if its parent does not exist, which is not damage of any store.
  package func makeRoot(on fileSystem: any FileSystem) throws(StorageError) {
    do throws(StorageError) {
      try fileSystem.makeDirectory(root)
    } catch .missingFile {
      throw .missingFolder(path: parent)
    }
  }

  package static let manifestPrefix = "manifest."
  package static let segmentSuffix = ".seg"
  package static let packSuffix = ".pack"
  package static let checkpointSuffix = ".ckpt"
  package static let blobSuffix = ".blob"
  package static let secondaryIndexSuffix = ".keys"
  package static let wordIndexSuffix = ".words"
  /// The suffixes of the files in `index`.
  static let indexSuffixes = [checkpointSuffix, secondaryIndexSuffix, wordIndexSuffix]

  package func manifest(_ number: UInt64) -> String {
    root + "/" + StorePaths.manifestPrefix + hexadecimal(number, digits: 16)
  }
  package func segment(_ id: SegmentID) -> String {
    log + "/" + hexadecimal(UInt64(id.rawValue), digits: 16) + StorePaths.segmentSuffix
  }
  package func pack(_ id: PackID) -> String {
    packs + "/" + hexadecimal(UInt64(id.rawValue), digits: 16) + StorePaths.packSuffix
  }
  package func checkpoint(_ number: UInt64) -> String {
    index + "/" + hexadecimal(number, digits: 16) + StorePaths.checkpointSuffix
  }
  func index(_ digest: UInt64, suffix: String) -> String {
    index + "/" + hexadecimal(digest, digits: 16) + suffix
  }
  func temporary(index digest: UInt64, suffix: String) -> String {
    temporary(suffix.dropFirst() + "-" + hexadecimal(digest, digits: 16))
  }
  package func temporary(_ name: String) -> String { temporary + "/" + name }

  /// A file that was under construction, to be removed.
  package var remains: String { temporary("removed") }
  package func blobs(in directory: UInt8) -> String {
    blobs + "/" + hexadecimal(UInt64(directory), digits: 2)
  }
  package var blobDirectories: [String] { (UInt8.min ... .max).map(blobs(in:)) }
  package func blob(_ id: BlobID) -> String {
    blobs(in: StorePaths.directory(of: id)) + "/" + hexadecimal(id.rawValue, digits: 16)
      + StorePaths.blobSuffix
  }
  package func temporary(blob id: BlobID) -> String {
    temporary("blob-" + hexadecimal(id.rawValue, digits: 16))
  }

  /// Returns the directory of a blob: 256 consecutive numbers share one, so that the blobs of one commit have few directories
  /// to synchronize.
  package static func directory(of id: BlobID) -> UInt8 {
    UInt8(truncatingIfNeeded: id.rawValue >> 8)
  }

  /// Returns the number in a file's name; `nil` if the name is not one of the store's.
  package static func number(in name: String, prefix: String = "", suffix: String = "") -> UInt64? {
    guard name.hasPrefix(prefix), name.hasSuffix(suffix),
      name.utf8.count == prefix.utf8.count + 16 + suffix.utf8.count
    else { return nil }
    let digits = name.utf8.dropFirst(prefix.utf8.count).prefix(16)
    var number: UInt64 = 0
    for digit in digits {
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(digit - 48)
      case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt64(digit - 87)
      default: return nil
      }
    }
    return number
  }
}

extension StorePaths {
  /// Rejects a store with a link, a pipe or another object in place of one of its directories: files would be created and
  /// removed wherever it leads.
  package func checkDirectories(on fileSystem: any FileSystem) throws(StorageError) {
    if let error = try unexpectedDirectories(on: fileSystem).first { throw error }
  }

  /// Returns the errors for objects in place of the store's directories.
  package func unexpectedDirectories(on fileSystem: any FileSystem) throws(StorageError)
    -> [StorageError]
  {
    var errors: [StorageError] = []
    func check(_ directory: String) throws(StorageError) {
      guard let kind = try fileSystem.status(of: directory)?.kind, kind != .directory else {
        return
      }
      errors.append(.unexpectedFile(path: directory, expected: .directory, found: kind))
    }
    for directory in directories + [blobs, staged, members] { try check(directory) }
    if errors.contains(where: { $0.path == blobs }) { return errors }
    for number in try StoreRemoval(paths: self, fileSystem: fileSystem).directoriesOfBlobs() {
      try check(blobs(in: number))
    }
    return errors
  }
}

extension StorageError {
  fileprivate var path: String? {
    if case .unexpectedFile(let path, _, _) = self { path } else { nil }
  }
}

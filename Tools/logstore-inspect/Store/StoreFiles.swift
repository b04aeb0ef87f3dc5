import LogEngine
import RowFormat

/// The files in a store's directory, by name, whatever state they are in.
struct StoreFiles {
  struct File: Equatable {
    /// The path under the store's directory.
    let name: String
    let byteCount: Int
  }

  private(set) var files: [File] = []

  /// Lists a store's directory: at most three levels, which is all a store has.
  ///
  /// The directory itself may be reached through a link, as it may when a store is opened.
  init(under path: String, on fileSystem: any FileSystem) throws(StorageError) {
    let path = try fileSystem.resolvingLink(path)
    let fileSystem = fileSystem.withPublishedCopy(of: StorePaths(root: path))
    guard let names = try fileSystem.list(path) else { throw .missingStore(path: path) }
    for name in names.sorted() { try add(name, under: path, on: fileSystem, depth: 1) }
  }

  private mutating func add(
    _ name: String,
    under root: String,
    on fileSystem: any FileSystem,
    depth: Int
  ) throws(StorageError) {
    let path = root + "/" + name
    let kind = try fileSystem.status(of: path)?.kind
    guard kind == .file || kind == .directory else {
      // Links and the like are named, and not followed.
      if kind != nil { files.append(File(name: name, byteCount: 0)) }
      return
    }
    if depth < 4, let names = try fileSystem.list(path) {
      for child in names.sorted() {
        try add(name + "/" + child, under: root, on: fileSystem, depth: depth + 1)
      }
      return
    }
    // A file that a writer removes meanwhile is no longer part of the store.
    guard let size = try fileSystem.size(of: path) else { return }
    files.append(File(name: name, byteCount: size))
  }

  var count: Int { files.count }
  var byteCount: Int { files.reduce(0) { $0 + $1.byteCount } }

  /// The files in a folder of the store, such as `tmp`.
  func files(in folder: String) -> [File] {
    files.filter { $0.name.hasPrefix(folder + "/") }
  }

  /// The files that belong to blobs, by the number in their name.
  var blobs: [BlobID: File] {
    var blobs: [BlobID: File] = [:]
    for file in files(in: "blobs") where file.name.hasSuffix(".blob") {
      let digits = file.name.split(separator: "/").last?.dropLast(".blob".count) ?? ""
      if let number = UInt64(digits, radix: 16), digits.count == 16 {
        blobs[BlobID(rawValue: number)] = file
      }
    }
    return blobs
  }
}

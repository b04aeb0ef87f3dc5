package import LogEngine

/// The files of a store, by path, and the directories they are in.
package struct StoreImage: Sendable {
  package private(set) var directories: [String] = []
  package var files: [String: [UInt8]] = [:]

  /// Reads all files of a directory.
  package init(of root: String, on fileSystem: any FileSystem) throws {
    try add(root, on: fileSystem)
  }

  private mutating func add(_ directory: String, on fileSystem: any FileSystem) throws {
    directories.append(directory)
    for name in (try fileSystem.list(directory) ?? []).sorted() {
      let path = directory + "/" + name
      if try fileSystem.list(path) != nil {
        try add(path, on: fileSystem)
        continue
      }
      let file = try fileSystem.open(path, .read)
      var bytes = [UInt8](repeating: 0, count: try file.size())
      if !bytes.isEmpty {
        var span = bytes.mutableSpan
        var room = span.mutableBytes
        _ = try file.read(into: &room, at: 0)
      }
      files[path] = bytes
    }
  }

  /// Makes the files anew.
  package func write(to fileSystem: any FileSystem) throws {
    for directory in directories { try fileSystem.makeDirectory(directory) }
    for (path, bytes) in files {
      let file = try fileSystem.open(path, .create)
      if !bytes.isEmpty { _ = try file.write(bytes.span.bytes, at: 0) }
    }
  }
}

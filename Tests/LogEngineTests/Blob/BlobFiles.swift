import LogEngine

extension FileSystem {
  /// The files in the folder of blobs of a store.
  func blobPaths(of store: String = "/store") throws -> [String] {
    try (list(store + "/blobs") ?? []).sorted().flatMap { directory in
      try (list("\(store)/blobs/\(directory)") ?? []).sorted().map {
        "\(store)/blobs/\(directory)/\($0)"
      }
    }
  }

  /// Makes a file of some bytes.
  func write(_ bytes: [UInt8], to path: String) throws {
    let file = try open(path, .create)
    if !bytes.isEmpty { _ = try file.write(bytes.span.bytes, at: 0) }
  }
}

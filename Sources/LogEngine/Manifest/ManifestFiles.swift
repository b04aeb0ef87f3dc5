import RowFormat

/// Finding the manifest that counts, and putting a new one in its place.
struct ManifestFiles {
  let paths: StorePaths
  let fileSystem: any FileSystem
  let synchronizes: Bool

  /// The numbers of the manifests there are, ascending.
  func numbers() throws(StorageError) -> [UInt64] {
    let names = try fileSystem.list(paths.root) ?? []
    return names.compactMap { StorePaths.number(in: $0, prefix: StorePaths.manifestPrefix) }
      .sorted()
  }

  /// Reads the manifest with the highest number; `nil` if there is none.
  ///
  /// A follower may meet a manifest that is replaced and removed under its eyes; then it looks again.
  func readNewest() throws(StorageError) -> Manifest? {
    var last: UInt64?
    while let newest = try numbers().last {
      do throws(StorageError) {
        return try read(newest)
      } catch .missingFile where newest != last {
        last = newest
      }
    }
    return nil
  }

  private func read(_ number: UInt64) throws(StorageError) -> Manifest {
    let path = paths.manifest(number)
    let file = try fileSystem.open(path, .read)
    let buffer = try file.readAll()
    let manifest = try Manifest(decoding: buffer.bytes, path: path)
    guard manifest.number == number else {
      let problem = Corruption.Problem.invalidField(
        of: .manifest,
        name: "number",
        expected: number,
        found: manifest.number
      )
      throw .corruption(Corruption(path: path, offset: 48, problem: problem))
    }
    return manifest
  }

  /// Makes a manifest the one that counts.
  func publish(_ manifest: Manifest) throws(StorageError) {
    var buffer = ByteBuffer(capacity: 8192)
    manifest.encode(
      salt: fileSystem.randomBits(),
      created: fileSystem.microseconds(),
      into: &buffer
    )
    let temporary = paths.temporary("manifest")
    let file = try fileSystem.open(temporary, .create)
    try buffer.write(to: file, at: 0)
    if synchronizes { try file.synchronize() }
    try fileSystem.rename(temporary, to: paths.manifest(manifest.number))
    try fileSystem.synchronizeDirectory(paths.root)
    // The predecessor stays, for whoever has to repair by hand; what came before it goes.
    for old in try numbers() where old + 1 < manifest.number {
      try fileSystem.unlink(paths.manifest(old))
    }
  }
}

extension OpenFile {
  /// Reads the whole file.
  func readAll() throws(StorageError) -> ByteBuffer {
    let count = try size()
    var buffer = ByteBuffer(capacity: count)
    try buffer.append(upTo: count) { (room) throws(StorageError) in try read(into: &room, at: 0) }
    return buffer
  }

  /// Reads up to so many bytes.
  func readBytes(_ count: Int, at offset: Int) throws(StorageError) -> ByteBuffer {
    var buffer = ByteBuffer(capacity: count)
    try buffer.append(upTo: count) { (room) throws(StorageError) in
      try read(into: &room, at: offset)
    }
    return buffer
  }
}

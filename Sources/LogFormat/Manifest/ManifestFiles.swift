import RowFormat

/// Finding the manifest that counts, and putting a new one in its place.
package struct ManifestFiles {
  package let paths: StorePaths
  package let fileSystem: any FileSystem
  package let synchronizes: Bool

  package init(paths: StorePaths, fileSystem: any FileSystem, synchronizes: Bool) {
    self.paths = paths
    self.fileSystem = fileSystem
    self.synchronizes = synchronizes
  }

  /// The numbers of the manifests there are, ascending.
  package func numbers() throws(StorageError) -> [UInt64] {
    let names = try fileSystem.list(paths.root) ?? []
    return names.compactMap { StorePaths.number(in: $0, prefix: StorePaths.manifestPrefix) }
      .sorted()
  }

  /// Reads the manifest with the highest number; `nil` if there is none.
  ///
  /// A follower may meet a manifest that is replaced and removed under its eyes; then it looks again.
  package func readNewest() throws(StorageError) -> Manifest? {
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
  package func publish(_ manifest: Manifest) throws(StorageError) {
    try write(manifest)
    try putInPlace(manifest)
  }

  /// Writes a manifest aside: whatever comes of it, nothing has changed.
  package func write(_ manifest: Manifest) throws(StorageError) {
    do throws(StorageError) {
      try write(manifest, to: temporary)
    } catch {
      // A full device needs what it takes.
      try? fileSystem.unlink(temporary)
      throw error
    }
  }

  /// Gives a manifest that was written aside its name.
  ///
  /// If that fails, it may be the one that counts all the same, or become so by a power cut.
  package func putInPlace(_ manifest: Manifest) throws(StorageError) {
    try fileSystem.rename(temporary, to: paths.manifest(manifest.number))
    try fileSystem.synchronizeDirectory(paths.root)
    // The predecessor stays for repairs by hand; what came before it goes.
    for old in try numbers() where old + 1 < manifest.number {
      try fileSystem.unlink(paths.manifest(old))
    }
  }

  private var temporary: String { paths.temporary("manifest") }

  private func write(_ manifest: Manifest, to path: String) throws(StorageError) {
    var buffer = ByteBuffer(capacity: 8192)
    manifest.encode(
      salt: fileSystem.randomBits(),
      created: fileSystem.microseconds(),
      into: &buffer
    )
    let file = try fileSystem.open(path, .create)
    try buffer.write(to: file, at: 0)
    if synchronizes { try file.synchronize() }
  }
}

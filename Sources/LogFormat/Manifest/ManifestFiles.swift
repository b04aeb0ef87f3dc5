import RowFormat

extension Manifest: NumberedContent {
  package static var temporaryName: String { "manifest" }
  package static func directory(of paths: StorePaths) -> String { paths.root }
  package static func path(of number: UInt64, in paths: StorePaths) -> String {
    paths.manifest(number)
  }
  package static func number(in name: String) -> UInt64? {
    StorePaths.number(in: name, prefix: StorePaths.manifestPrefix)
  }
}

/// Finds a store's current manifest, and publishes new ones.
package typealias ManifestFiles = NumberedFiles<Manifest>

extension NumberedFiles where Content == Manifest {
  /// Reads the manifest with the highest number; `nil` if there is none.
  ///
  /// In a follower, the manifest may have been replaced and removed before it was read; then the files are listed again.
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

  /// Writes a manifest and makes it the current one.
  package func publish(_ manifest: Manifest) throws(StorageError) {
    try write(manifest)
    try putInPlace(manifest)
  }

  /// Writes a manifest under a temporary name: the store does not change, even if this fails.
  package func write(_ manifest: Manifest) throws(StorageError) {
    do throws(StorageError) {
      try write(manifest, to: temporary)
    } catch {
      discardFile()
      throw error
    }
  }

  /// Makes a written manifest the current one.
  ///
  /// If this fails, the manifest may be the current one nevertheless, or become so by a power cut.
  package func putInPlace(_ manifest: Manifest) throws(StorageError) {
    try moveIntoPlace(manifest.number)
    // The predecessor stays for repairs by hand; older manifests go, now or after the next one.
    guard let numbers = try? numbers() else { return }
    for old in numbers where old + 1 < manifest.number {
      try? fileSystem.unlink(paths.manifest(old))
    }
  }

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

import RowFormat

/// Finds, publishes and removes the files of a store's secondary indexes.
package struct SecondaryIndexFiles {
  package let paths: StorePaths
  package let fileSystem: any FileSystem

  package init(paths: StorePaths, fileSystem: any FileSystem) {
    self.paths = paths
    self.fileSystem = fileSystem
  }

  /// The names of the existing files, without their suffix.
  package func digests() throws(StorageError) -> [UInt64] {
    (try fileSystem.list(paths.index) ?? []).compactMap {
      StorePaths.number(in: $0, suffix: StorePaths.secondaryIndexSuffix)
    }
    .sorted()
  }

  /// Removes all files but these; one that cannot be removed costs its space.
  package func removeAll(but kept: Set<UInt64>) {
    for digest in (try? digests()) ?? [] where !kept.contains(digest) { remove(digest) }
  }

  package func remove(_ digest: UInt64) {
    try? fileSystem.unlink(paths.secondaryIndex(digest))
  }

  /// Creates the file of an index that is about to be written.
  package func makeFile(_ digest: UInt64) throws(StorageError) -> any OpenFile {
    try fileSystem.open(paths.temporary(secondaryIndex: digest), .create)
  }

  /// Gives a complete file its name.
  ///
  /// Nothing is synchronized: a file that a power cut damages is made again.
  package func publish(_ digest: UInt64) throws(StorageError) {
    try fileSystem.rename(
      paths.temporary(secondaryIndex: digest),
      to: paths.secondaryIndex(digest)
    )
  }

  /// Reads no more of a file than its header.
  ///
  /// - Throws: ``StorageError`` if it is none, or cannot be read.
  package func readHeader(
    _ digest: UInt64
  ) throws(StorageError) -> (file: FileHeader, header: SecondaryIndexHeader) {
    let path = paths.secondaryIndex(digest)
    let file = try fileSystem.open(path, .read)
    let bytes = try file.readBytes(FileHeader.byteCount, at: 0)
    let first = try FileHeader(decoding: bytes.bytes, .secondaryIndex, path: path)
    guard let header = SecondaryIndexHeader(decoding: bytes.bytes, fileSize: try file.size()) else {
      let problem = Corruption.Problem.missing(.secondaryIndex)
      throw .corruption(Corruption(path: path, offset: 0, problem: problem))
    }
    return (first, header)
  }

  /// Writes another header of a file.
  package func write(
    _ file: FileHeader,
    _ header: SecondaryIndexHeader
  ) throws(StorageError) {
    var buffer = ByteBuffer(capacity: FileHeader.byteCount)
    header.encode(file, into: &buffer)
    try buffer.write(
      to: try fileSystem.open(paths.secondaryIndex(header.digest.low), .write),
      at: 0
    )
  }

  package func discard(_ digest: UInt64) {
    try? fileSystem.unlink(paths.temporary(secondaryIndex: digest))
  }
}

import RowFormat

/// Finds, publishes and removes the files of a store's indexes: those with one kind of header.
package struct IndexFiles<Header: IndexFileHeader> {
  package let paths: StorePaths
  package let fileSystem: any FileSystem

  package init(paths: StorePaths, fileSystem: any FileSystem) {
    self.paths = paths
    self.fileSystem = fileSystem
  }

  package func path(_ digest: UInt64) -> String { paths.index(digest, suffix: Header.suffix) }

  private func temporaryPath(_ digest: UInt64) -> String {
    paths.temporary(index: digest, suffix: Header.suffix)
  }

  /// Returns the names of the existing files, without their suffix.
  package func digests() throws(StorageError) -> [UInt64] {
    (try fileSystem.list(paths.index) ?? []).compactMap {
      StorePaths.number(in: $0, suffix: Header.suffix)
    }
    .sorted()
  }

  /// Removes all files but these; a file that cannot be removed costs nothing but space.
  package func removeAll(but kept: Set<UInt64>) {
    for digest in (try? digests()) ?? [] where !kept.contains(digest) { remove(digest) }
  }

  package func remove(_ digest: UInt64) { try? fileSystem.unlink(path(digest)) }

  /// Creates a new file, and gives it its name when it is complete.
  ///
  /// Nothing is synchronized: a file that a power cut damages is created again.
  ///
  /// - Parameters:
  ///   - digest: The file's name.
  ///   - store: The store that it belongs to.
  ///   - write: Writes the file, beginning with the given fields of the header.
  /// - Throws: ``StorageError``, or any error that `write` throws; there is no new file then.
  package func makeFile(
    _ digest: UInt64,
    of store: StoreIdentifier,
    _ write: (any OpenFile, FileHeader) throws -> Void
  ) throws {
    do {
      let file = try fileSystem.open(temporaryPath(digest), .create)
      let header = FileHeader(
        kind: Header.kind,
        store: store,
        number: digest,
        salt: fileSystem.randomBits(),
        created: fileSystem.microseconds()
      )
      try write(file, header)
      try fileSystem.rename(temporaryPath(digest), to: path(digest))
    } catch {
      try? fileSystem.unlink(temporaryPath(digest))
      throw error
    }
  }

  /// Reads only the header of a file.
  ///
  /// - Throws: ``StorageError`` if it is not such a file, or cannot be read.
  package func readHeader(
    _ digest: UInt64
  ) throws(StorageError) -> (file: FileHeader, header: Header) {
    try Self.readHeader(of: try fileSystem.open(path(digest), .read), path(digest))
  }

  static func readHeader(
    of file: any OpenFile,
    _ path: String
  ) throws(StorageError) -> (file: FileHeader, header: Header) {
    let bytes = try file.readBytes(FileHeader.byteCount, at: 0)
    let first = try FileHeader(decoding: bytes.bytes, Header.kind, path: path)
    guard let header = Header(decoding: bytes.bytes, fileSize: try file.size()) else {
      let problem = Corruption.Problem.missing(.secondaryIndex)
      throw .corruption(
        Corruption(path: path, offset: FileHeader.particularOffset, problem: problem)
      )
    }
    return (first, header)
  }

  /// Replaces the header of a file.
  package func write(_ file: FileHeader, _ header: Header) throws(StorageError) {
    try Self.write(
      file,
      header,
      to: try fileSystem.open(path(header.digest.low), .write)
    )
  }

  /// Stamps a file's header with a later commit, for which its contents hold, too.
  ///
  /// - Returns: The number of bytes written: 0 if the file has this stamp already.
  package func restamp(
    _ open: any OpenFile,
    _ file: FileHeader,
    _ header: Header,
    _ stamp: IndexStamp
  ) throws(StorageError) -> Int {
    if header.stamp == stamp { return 0 }
    var stamped = header
    stamped.stamp = stamp
    try Self.write(file, stamped, to: open)
    return FileHeader.byteCount
  }

  static func write(
    _ file: FileHeader,
    _ header: Header,
    to open: any OpenFile
  ) throws(StorageError) {
    var buffer = ByteBuffer(capacity: FileHeader.byteCount)
    header.encode(file, into: &buffer)
    try buffer.write(to: open, at: 0)
  }

  /// Opens a file to be extended, if its header is unchanged since it was read.
  package func open(_ former: FileHeader, _ digest: UInt64) -> (any OpenFile)? {
    do {
      let file = try fileSystem.open(path(digest), .write)
      let bytes = try file.readBytes(FileHeader.byteCount, at: 0)
      let found = try FileHeader(decoding: bytes.bytes, Header.kind, path: path(digest))
      return found == former ? file : nil
    } catch {
      return nil
    }
  }
}

/// The files of indexes of keys.
package typealias SecondaryIndexFiles = IndexFiles<SecondaryIndexHeader>
/// The files of indexes of words.
package typealias WordIndexFiles = IndexFiles<WordIndexHeader>

import RowFormat

/// The file of an index of words, open for reading.
package final class WordIndexFile: Sendable {
  package let path: String
  package let header: WordIndexHeader
  package let fileHeader: FileHeader
  /// The size of the file when it was opened, in bytes.
  package let byteCount: Int
  /// The places of the runs, the oldest first.
  package let entries: [WordIndexEntry]
  /// The keys of the rows whose words must be read again, ascending.
  package let pending: [UInt64]
  private let file: any OpenFile

  /// Opens a file, and reads everything but the runs.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - store: The store that it must belong to; any, if `nil`.
  ///   - fileSystem: The file system of the file.
  /// - Throws: ``StorageError`` if it is not such a file, or cannot be read.
  package init(
    _ path: String,
    of store: StoreIdentifier?,
    on fileSystem: any FileSystem
  ) throws(StorageError) {
    self.path = path
    file = try fileSystem.open(path, .read)
    byteCount = try file.size()
    (fileHeader, header) = try WordIndexFiles.readHeader(of: file, path)
    let bytes = try file.readBytes(header.directoryByteCount, at: header.directoryOffset)
    try Self.check(
      bytes.bytes,
      WordIndexEntry(
        offset: header.directoryOffset,
        byteCount: header.directoryByteCount,
        checksum: header.directoryChecksum
      ),
      fileHeader.seed,
      path
    )
    var entries: [WordIndexEntry] = []
    var pending: [UInt64] = []
    var place = 0
    for _ in 0..<header.runCount {
      if let entry = WordIndexEntry(decoding: bytes.bytes, at: place, fileSize: byteCount) {
        entries.append(entry)
      }
      place += WordIndexEntry.byteCount
    }
    for _ in 0..<header.pendingCount {
      pending.append(bytes.bytes.load(UInt64.self, at: place))
      place += 8
    }
    self.entries = entries
    self.pending = pending
    guard fileHeader.store == store ?? fileHeader.store, entries.count == header.runCount,
      zip(pending, pending.dropFirst()).allSatisfy({ $0 < $1 })
    else {
      throw .corruption(
        Corruption(
          path: path,
          offset: header.directoryOffset,
          problem: .missing(.secondaryIndex)
        )
      )
    }
  }

  /// Reads a run.
  ///
  /// - Throws: ``StorageError`` if it is damaged, or cannot be read.
  package func readRun(_ entry: WordIndexEntry) throws(StorageError) -> [UInt8] {
    let bytes = try file.readBytes(entry.byteCount, at: entry.offset)
    try Self.check(bytes.bytes, entry, fileHeader.seed, path)
    return unsafe bytes.bytes.withUnsafeBytes { unsafe Array($0) }
  }

  /// Gives back the file, once all runs that are needed were read.
  package func close() { file.close() }

  /// Reads all runs.
  ///
  /// - Throws: ``StorageError`` if a run is damaged, or cannot be read.
  package func verify() throws(StorageError) {
    for entry in entries { _ = try readRun(entry) }
  }

  private static func check(
    _ bytes: RawSpan,
    _ entry: WordIndexEntry,
    _ seed: FrameSeed,
    _ path: String
  ) throws(StorageError) {
    let found = CRC32C.extend(seed.at(entry.offset), over: bytes)
    guard bytes.byteCount == entry.byteCount, found == entry.checksum else {
      let problem = Corruption.Problem.checksumMismatch(
        of: .secondaryIndex,
        expected: entry.checksum,
        found: found
      )
      throw .corruption(Corruption(path: path, offset: entry.offset, problem: problem))
    }
  }
}

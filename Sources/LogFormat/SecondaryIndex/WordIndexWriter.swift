import RowFormat

/// Writes the file of an index of words: a new file, or the runs that an existing one lacks.
package struct WordIndexWriter: ~Copyable {
  private let file: any OpenFile
  private let fileHeader: FileHeader
  private var header: WordIndexHeader
  private var offset: Int
  private var entries: [WordIndexEntry] = []

  /// Begins a new file.
  package init(_ file: any OpenFile, _ fileHeader: FileHeader, _ header: WordIndexHeader) {
    self.file = file
    self.fileHeader = fileHeader
    self.header = header
    offset = FileHeader.byteCount
  }

  /// Begins to extend a file.
  ///
  /// - Parameters:
  ///   - former: The existing file.
  ///   - file: The same file, open for writing.
  ///   - header: The new header.
  /// - Throws: ``StorageError`` if its size cannot be read.
  package init(
    extending former: WordIndexFile,
    _ file: any OpenFile,
    _ header: WordIndexHeader
  ) throws(StorageError) {
    self.file = file
    self.header = header
    fileHeader = former.fileHeader
    offset = (try file.size() + 7) & ~7
  }

  /// Keeps a run of the existing file, behind all runs so far.
  package mutating func keep(_ entry: WordIndexEntry) { entries.append(entry) }

  /// Writes a run behind all runs so far.
  package mutating func append(_ run: RawSpan) throws(StorageError) {
    entries.append(
      WordIndexEntry(
        offset: offset,
        byteCount: run.byteCount,
        checksum: CRC32C.extend(fileHeader.seed.at(offset), over: run)
      )
    )
    try file.writeAll(run, at: offset)
    offset = (offset + run.byteCount + 7) & ~7
  }

  /// Writes the directory, and the header last.
  ///
  /// - Parameter pending: The keys of the rows whose words must be read again, ascending.
  /// - Returns: The size of the file, in bytes.
  /// - Throws: ``StorageError`` if it cannot be written.
  @discardableResult
  package consuming func finish(pending: [UInt64]) throws(StorageError) -> Int {
    header.runCount = entries.count
    header.pendingCount = pending.count
    var directory = ByteBuffer(capacity: header.directoryByteCount)
    for entry in entries { entry.encode(into: &directory) }
    for key in pending { directory.append(key) }
    header.directoryOffset = offset
    header.directoryChecksum = CRC32C.extend(fileHeader.seed.at(offset), over: directory.bytes)
    try directory.write(to: file, at: offset)
    try WordIndexFiles.write(fileHeader, header, to: file)
    return offset + directory.count
  }
}

import RowFormat

/// Writes the file of a secondary index: a new file, or the changes of an existing one.
package struct SecondaryIndexWriter: ~Copyable {
  private let file: any OpenFile
  private let fileHeader: FileHeader
  private var header: SecondaryIndexHeader
  /// The file that is extended, whose blocks may stay.
  private let former: SecondaryIndexFile?
  private var offset: Int
  private var buffer = ByteBuffer(capacity: Self.pieceByteCount)
  private var directory = ByteBuffer(capacity: 64 << 10)
  /// The number of words in the buffer that belong to the block being filled.
  private var openWordCount = 0

  /// The size of a write, in bytes.
  private static let pieceByteCount = 256 << 10

  /// Begins a new file.
  package init(_ file: any OpenFile, _ fileHeader: FileHeader, _ header: SecondaryIndexHeader) {
    self.file = file
    self.fileHeader = fileHeader
    self.header = header
    former = nil
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
    extending former: SecondaryIndexFile,
    _ file: any OpenFile,
    _ header: SecondaryIndexHeader
  ) throws(StorageError) {
    self.file = file
    self.header = header
    self.former = former
    fileHeader = former.fileHeader
    offset = (try file.size() + 7) & ~7
  }

  /// Appends entries behind all others, word after word.
  package mutating func append(_ words: Span<UInt64>) throws(StorageError) {
    let stride = header.stride
    precondition(words.count.isMultiple(of: stride), "\(words.count) words of entries of \(stride)")
    let limit = SecondaryIndexHeader.blockLimit * stride
    var start = 0
    while start < words.count {
      let end = min(words.count, start + limit - openWordCount)
      let part = words.extracting(start..<end)
      if UInt64(1).littleEndian == 1 {
        unsafe part.withUnsafeBytes { unsafe buffer.append($0.bytes) }
      } else {
        for index in part.indices { buffer.append(part[index]) }
      }
      openWordCount += end - start
      start = end
      if openWordCount == limit { try endBlock() }
    }
  }

  /// Keeps a block of the existing file, behind all entries so far.
  package mutating func keepBlock(_ index: Int) throws(StorageError) {
    guard let former else { preconditionFailure("a new file has no blocks to keep") }
    try endBlock()
    former.appendDirectory(ofBlock: index, to: &directory)
    header.blockCount += 1
    header.entryCount += former.count(ofBlock: index)
  }

  /// Writes the directory, and the header last.
  ///
  /// - Returns: The size of the file, in bytes.
  /// - Throws: ``StorageError`` if it cannot be written.
  package consuming func finish() throws(StorageError) -> Int {
    try endBlock()
    try flush()
    header.directoryOffset = offset
    header.directoryChecksum = CRC32C.extend(fileHeader.seed.at(offset), over: directory.bytes)
    try directory.write(to: file, at: offset)
    offset += directory.count
    header.encode(fileHeader, into: &buffer)
    try buffer.write(to: file, at: 0)
    return offset
  }

  private mutating func endBlock() throws(StorageError) {
    guard openWordCount > 0 else { return }
    let start = buffer.count - openWordCount * 8
    let place = offset + start
    let checksum = CRC32C.extend(
      fileHeader.seed.at(place),
      over: buffer.bytes.extracting(start..<buffer.count)
    )
    for word in 0..<header.stride {
      directory.append(buffer.load(UInt64.self, at: start + word * 8))
    }
    directory.append(UInt64(place))
    directory.append(UInt32(openWordCount / header.stride))
    directory.append(checksum)
    header.blockCount += 1
    header.entryCount += openWordCount / header.stride
    openWordCount = 0
    if buffer.count >= Self.pieceByteCount { try flush() }
  }

  private mutating func flush() throws(StorageError) {
    try buffer.write(to: file, at: offset)
    offset += buffer.count
    buffer.removeAll()
  }
}

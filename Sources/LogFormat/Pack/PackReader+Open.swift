import RowFormat

extension PackReader {
  /// Opens a pack.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - fileSystem: The file system that holds the pack.
  ///   - pack: The number that the pack must have.
  ///   - store: The store that it must belong to.
  ///   - reads: The way in which its bytes are read.
  ///   - cache: Keeps decoded blocks; `nil` for none.
  /// - Returns: The open pack.
  /// - Throws: ``StorageError/corruption(_:)`` if header, footer or trailer are damaged.
  /// - Complexity: O(blocks × columns); no block is read.
  public static func open(
    _ path: String,
    on fileSystem: some FileSystem,
    pack: PackID,
    of store: StoreIdentifier,
    reads: ReadMethod = .mapped,
    cache: BlockCache? = nil
  ) throws(StorageError) -> PackReader {
    let file = try fileSystem.open(path, .read)
    let size = try file.size()
    let least = FileHeader.byteCount + PackTrailer.byteCount
    guard size >= least else {
      throw .corruption(
        Corruption(
          path: path,
          offset: size,
          problem: .truncated(.pack, needed: least, available: size)
        )
      )
    }
    let header = try readHeader(file, pack, store)
    let trailer = try readTrailer(file, header, size)
    let footer = try readFooter(file, trailer)
    var summary = PackSummary()
    summary.rowCount = trailer.rowCount
    summary.blockCount = trailer.blockCount
    summary.byteCount = size
    return PackReader(
      file: file,
      mapping: reads == .mapped ? try file.map(size, .sharedReadOnly) : nil,
      header: header,
      footer: footer,
      groups: try makeGroups(footer, trailer, path),
      cache: cache,
      summary: summary
    )
  }

  private static func readHeader(
    _ file: any OpenFile,
    _ pack: PackID,
    _ store: StoreIdentifier
  ) throws(StorageError) -> FileHeader {
    let bytes = try file.readBytes(FileHeader.byteCount, at: 0)
    let header = try FileHeader(decoding: bytes.bytes, .pack, path: file.path)
    let fields: [(String, Int, UInt64, UInt64)] = [
      ("store", 32, store.low, header.store.low), ("store", 40, store.high, header.store.high),
      ("number", 48, UInt64(pack.rawValue), header.number),
    ]
    for (name, offset, expected, found) in fields where expected != found {
      let problem = Corruption.Problem.invalidField(
        of: .pack,
        name: name,
        expected: expected,
        found: found
      )
      throw .corruption(Corruption(path: file.path, offset: offset, problem: problem))
    }
    return header
  }

  private static func readTrailer(
    _ file: any OpenFile,
    _ header: FileHeader,
    _ size: Int
  ) throws(StorageError) -> PackTrailer {
    let offset = size - PackTrailer.byteCount
    let bytes = try file.readBytes(PackTrailer.byteCount, at: offset)
    guard bytes.count == PackTrailer.byteCount else {
      let problem = Corruption.Problem.truncated(
        .packTrailer,
        needed: PackTrailer.byteCount,
        available: bytes.count
      )
      throw .corruption(Corruption(path: file.path, offset: offset, problem: problem))
    }
    return try PackTrailer(
      decoding: bytes.bytes,
      seed: header.seed.at(offset),
      fileByteCount: size,
      path: file.path
    )
  }

  private static func readFooter(
    _ file: any OpenFile,
    _ trailer: PackTrailer
  ) throws(StorageError) -> PackFooter {
    func damage(_ problem: Corruption.Problem) -> StorageError {
      .corruption(Corruption(path: file.path, offset: trailer.footerOffset, problem: problem))
    }
    let stored = try file.readBytes(trailer.footerByteCount, at: trailer.footerOffset)
    let entry = ChunkEntry(
      end: 0,
      rawByteCount: trailer.footerRawByteCount,
      checksum: trailer.footerChecksum,
      rawChecksum: trailer.footerRawChecksum,
      encoding: .plain,
      codec: trailer.footerCodec,
      hasNulls: false
    )
    var bytes = ByteBuffer(capacity: 64)
    try entry.unpack(stored.bytes, into: &bytes, damage)
    guard let footer = PackFooter(decoding: bytes.bytes) else {
      throw damage(.missing(.packFooter))
    }
    return footer.placed()
  }

  /// Groups the blocks by table and layout, and checks their footer entries.
  private static func makeGroups(
    _ footer: PackFooter,
    _ trailer: PackTrailer,
    _ path: String
  ) throws(StorageError) -> [BlockGroup] {
    func damage(_ name: String, _ expected: Int, _ found: Int) -> StorageError {
      let problem = Corruption.Problem.invalidField(
        of: .packFooter,
        name: name,
        expected: UInt64(clamping: expected),
        found: UInt64(clamping: found)
      )
      return .corruption(
        Corruption(path: path, offset: trailer.footerOffset, problem: problem)
      )
    }
    guard footer.blocks.count == trailer.blockCount else {
      throw damage("blockCount", trailer.blockCount, footer.blocks.count)
    }
    guard footer.placedEnd == trailer.footerOffset else {
      throw damage("footerOffset", footer.placedEnd, trailer.footerOffset)
    }
    let rowCount = footer.blocks.reduce(0) { $0 + $1.rowCount }
    guard rowCount == trailer.rowCount else {
      throw damage("rowCount", trailer.rowCount, rowCount)
    }
    var groups = footer.schemas.indices.map { BlockGroup(schema: $0, blocks: []) }
    for (number, block) in footer.blocks.enumerated() {
      let before = groups[block.schema].blocks.last.map { footer.blocks[$0].lastKey }
      if let before, before >= block.firstKey {
        throw damage("firstKey", Int(before + 1), Int(block.firstKey))
      }
      groups[block.schema].blocks.append(number)
    }
    return groups.sorted {
      let (left, right) = (footer.schemas[$0.schema], footer.schemas[$1.schema])
      return (left.table, left.layout) < (right.table, right.layout)
    }
  }
}

extension PackFooter {
  /// Returns the footer with the offsets that follow from the order of blocks and dictionaries.
  fileprivate func placed() -> PackFooter {
    var footer = self
    var offset = FileHeader.byteCount
    for index in footer.blocks.indices {
      footer.blocks[index].offset = offset
      offset += footer.blocks[index].byteCount
    }
    for index in footer.dictionaries.indices {
      footer.dictionaries[index].offset = offset
      offset += footer.dictionaries[index].storedByteCount
    }
    return footer
  }

  /// The end of the last block or dictionary.
  fileprivate var placedEnd: Int {
    blocks.reduce(FileHeader.byteCount) { $0 + $1.byteCount }
      + dictionaries.reduce(0) { $0 + $1.storedByteCount }
  }
}

import RowFormat

/// Decoding the columns of a block.
extension PackReader {
  /// Lends a block's bytes, after checking its header.
  func withBlock<R>(_ number: Int, _ body: (RawSpan) throws -> R) throws -> R {
    let entry = footer.blocks[number]
    if let range = readAhead.next(number, at: entry.offset, limit: summary.byteCount) {
      file.willRead(range)
    }
    return try withBytes(entry.offset..<(entry.offset + entry.byteCount)) { bytes in
      try checkHeader(bytes, entry)
      return try body(bytes)
    }
  }

  private func checkHeader(_ bytes: RawSpan, _ entry: BlockEntry) throws(StorageError) {
    let schema = footer.schemas[entry.schema]
    let header = PackBlockHeader(
      decoding: bytes,
      columnCount: schema.columns.count,
      seed: self.header.seed.at(entry.offset)
    )
    guard let header else { throw damage(at: entry.offset, .missing(.packBlock)) }
    let expected = PackBlockHeader(
      byteCount: entry.byteCount,
      rowCount: entry.rowCount,
      table: schema.table,
      layout: schema.layout,
      columnCount: schema.columns.count,
      firstKey: entry.firstKey,
      lastKey: entry.lastKey
    )
    guard header == expected else {
      throw damage(
        at: entry.offset,
        .inconsistent(.packBlock, table: header.table, key: header.firstKey)
      )
    }
  }

  /// Decodes a chunk of a block.
  ///
  /// - Parameters:
  ///   - chunk: 0 for the keys, 1 for the first column.
  ///   - number: The block.
  ///   - bytes: The block's bytes.
  ///   - vector: The vector that receives the values; `nil` for a new one.
  ///   - wanted: The rows whose values are wanted; those of others are unspecified. `nil` for all.
  /// - Returns: The vector.
  /// - Throws: ``StorageError/corruption(_:)`` if the chunk is damaged.
  func decode(
    _ chunk: Int,
    of number: Int,
    _ bytes: RawSpan,
    into vector: ColumnVector? = nil,
    wanted: Range<Int>? = nil
  ) throws -> ColumnVector {
    let block = footer.blocks[number]
    let schema = footer.schemas[block.schema]
    guard
      let (entry, start) = ChunkEntry.read(bytes, chunk, columnCount: schema.columns.count)
    else {
      throw damage(at: block.offset, .missing(.packColumn))
    }
    let offset = block.offset + start
    var source = ColumnContents.Source(
      type: chunk == 0 ? .integer : schema.rowLayout.types[chunk - 1],
      encoding: entry.encoding,
      hasNulls: entry.hasNulls,
      rowCount: block.rowCount,
      wanted: wanted
    )
    if entry.encoding == .dictionary, chunk > 0 {
      source.dictionary = try dictionary(
        table: schema.table,
        column: schema.columns[chunk - 1]
      )
    }
    guard entry.rawByteCount <= ColumnContents.byteLimit(source) else {
      throw damage(
        at: offset,
        .invalidField(
          of: .packColumn,
          name: "rawByteCount",
          expected: UInt64(ColumnContents.byteLimit(source)),
          found: UInt64(entry.rawByteCount)
        )
      )
    }
    let vector = vector ?? ColumnVector()
    let stored = bytes.extracting(start..<entry.end)
    let isValid = try unsafe decode(stored, entry, source, into: &vector.contents) { problem in
      damage(at: offset, problem)
    }
    guard isValid, chunk == 0 ? isKeys(vector, block) : vector.form != .dense else {
      throw damage(
        at: offset,
        .inconsistent(.packColumn, table: schema.table, key: block.firstKey)
      )
    }
    return vector
  }

  private func decode(
    _ stored: RawSpan,
    _ entry: ChunkEntry,
    _ source: ColumnContents.Source,
    into contents: inout ColumnContents,
    _ damage: (Corruption.Problem) -> StorageError
  ) throws -> Bool {
    if ColumnContents.keepsChunk(source) {
      var chunk = ByteBuffer(capacity: 64)
      try entry.unpack(stored, into: &chunk, damage)
      return contents.decode(keeping: chunk, source)
    }
    if entry.codec == .stored {
      try entry.check(stored, against: entry.checksum, damage)
      return entry.rawByteCount == stored.byteCount && contents.decode(stored, source)
    }
    var raw = ByteBuffer(capacity: 64)
    try entry.unpack(stored, into: &raw, damage)
    return contents.decode(raw.bytes, source)
  }

  /// Whether the keys ascend from the block's first to its last.
  private func isKeys(_ vector: ColumnVector, _ block: BlockEntry) -> Bool {
    if vector.form == .dense {
      return block.lastKey - block.firstKey == UInt64(block.rowCount - 1)
    }
    guard vector.form == .integers, vector.nullCount == 0 else { return false }
    let keys = vector.integers
    guard keys[0] == Int64(block.firstKey), keys[keys.count - 1] == Int64(block.lastKey) else {
      return false
    }
    for index in 1..<max(1, keys.count) where keys[index - 1] >= keys[index] { return false }
    return true
  }
}

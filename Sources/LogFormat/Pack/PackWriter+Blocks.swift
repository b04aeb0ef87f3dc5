import RowFormat

/// Writing blocks, dictionaries and footer to the file.
extension PackWriter {
  /// Writes a filled block.
  package mutating func flush(_ filling: Filling) throws(StorageError) {
    guard filling.rows.count > 0 else { return }
    precondition(footer.blocks.count < PackFormat.blockLimit, "a pack of too many blocks")
    let schema = footer.schemas[filling.schema]
    let layout = schema.rowLayout
    let start = output.count
    let offset = outputStart + start
    output.appendZeros(PackBlockHeader.byteCount(columns: layout.count))
    let zoneStart = footer.zones.count
    var entries: [ChunkEntry] = []
    entries.reserveCapacity(layout.count + 1)
    entries.append(appendChunk(encoder.encodeKeys(of: filling.rows), blockStart: start))
    for column in 0..<layout.count {
      let dictionary = dictionary(schema, column)
      let chunk = encoder.encode(column, of: filling.rows, layout, dictionary)
      footer.zones.append(chunk.zone)
      entries.append(appendChunk(chunk, blockStart: start))
    }
    output.appendZeros(-output.count & 7)
    let keys = filling.rows.keys
    let block = PackBlockHeader(
      byteCount: output.count - start,
      rowCount: keys.count,
      table: schema.table,
      layout: schema.layout,
      columnCount: layout.count,
      firstKey: UInt64(keys[0]),
      lastKey: UInt64(keys[keys.count - 1])
    )
    block.store(at: start, entries, seed: header.seed.at(offset), in: &output)
    footer.blocks.append(
      BlockEntry(
        schema: filling.schema,
        rowCount: block.rowCount,
        firstKey: block.firstKey,
        lastKey: block.lastKey,
        byteCount: block.byteCount,
        offset: offset,
        zoneStart: zoneStart
      )
    )
    summary.blockCount += 1
    filling.rows.removeAll()
    if output.count >= PackWriter.outputLimit { try writeOutput() }
  }

  private mutating func dictionary(_ schema: PackSchema, _ column: Int) -> DictionaryBuilder? {
    switch schema.rowLayout.types[column] {
    case .text, .bytes, .structured: break
    default: return nil
    }
    let key = DictionaryKey(table: schema.table, column: schema.columns[column])
    if let known = dictionaries[key] { return known }
    let new = DictionaryBuilder()
    dictionaries[key] = new
    return new
  }

  /// Appends the encoder's chunk, compressed if that pays.
  private mutating func appendChunk(
    _ chunk: ColumnEncoder.Result,
    blockStart: Int
  ) -> ChunkEntry {
    let stored = output.appendStored(encoder.chunk)
    return ChunkEntry(
      end: output.count - blockStart,
      rawByteCount: encoder.chunk.count,
      checksum: stored.checksum,
      rawChecksum: stored.rawChecksum,
      encoding: chunk.encoding,
      codec: stored.codec,
      hasNulls: chunk.hasNulls
    )
  }

  private mutating func writeOutput() throws(StorageError) {
    try output.write(to: file, at: outputStart)
    outputStart += output.count
    output.removeAll()
  }

  /// Ends the pack: writes the pending blocks, the dictionaries and the footer.
  ///
  /// - Returns: The summary of the pack.
  public mutating func finish() throws(StorageError) -> PackSummary {
    try flushAll()
    appendDictionaries()
    var bytes = ByteBuffer(capacity: 64 << 10)
    footer.encode(into: &bytes)
    let offset = outputStart + output.count
    let stored = output.appendStored(bytes, greatestExpansion: PackFormat.footerExpansion)
    let end = outputStart + output.count
    let trailer = PackTrailer(
      footerOffset: offset,
      footerByteCount: end - offset,
      footerRawByteCount: bytes.count,
      footerChecksum: stored.checksum,
      footerRawChecksum: stored.rawChecksum,
      rowCount: summary.rowCount,
      fileByteCount: end + PackTrailer.byteCount,
      blockCount: footer.blocks.count,
      footerCodec: stored.codec
    )
    trailer.encode(seed: header.seed.at(end), into: &output)
    try writeOutput()
    summary.byteCount = trailer.fileByteCount
    return summary
  }

  private mutating func appendDictionaries() {
    let keys = dictionaries.keys.sorted { ($0.table, $0.column) < ($1.table, $1.column) }
    var chunk = ByteBuffer(capacity: 64 << 10)
    for key in keys {
      guard let dictionary = dictionaries[key], dictionary.count > 0 else { continue }
      chunk.removeAll()
      let lengths = (0..<dictionary.count).map { Int64(dictionary.value($0).count) }
      IntegerCoding.encode(lengths, into: &chunk)
      chunk.append(dictionary.bytes.bytes)
      let offset = outputStart + output.count
      let stored = output.appendStored(chunk)
      footer.dictionaries.append(
        DictionaryEntry(
          table: key.table,
          column: key.column,
          valueCount: dictionary.count,
          storedByteCount: outputStart + output.count - offset,
          rawByteCount: chunk.count,
          codec: stored.codec,
          checksum: stored.checksum,
          rawChecksum: stored.rawChecksum,
          offset: offset
        )
      )
    }
  }
}

extension ByteBuffer {
  /// Appends bytes as LZ4 if that saves an eighth, and uncompressed otherwise.
  ///
  /// - Parameters:
  ///   - source: The bytes.
  ///   - greatestExpansion: Limit of the expansion of one compressed byte, for footers beyond their byte limit.
  /// - Returns: The codec used, and the checksums.
  fileprivate mutating func appendStored(
    _ source: borrowing ByteBuffer,
    greatestExpansion: Int = .max
  ) -> (codec: ChunkCodec, checksum: UInt32, rawChecksum: UInt32) {
    let raw = source.bytes
    let rawChecksum = CRC32C.extend(0, over: raw)
    let start = count
    if raw.byteCount >= ChunkCodec.leastByteCount,
      let stored = LZ4.compress(raw, upTo: ChunkCodec.limit(raw.byteCount), into: &self)
    {
      if raw.byteCount > PackFormat.footerByteLimit, raw.byteCount / greatestExpansion >= stored {
        truncate(to: start)
        append(raw)
        return (.stored, rawChecksum, rawChecksum)
      }
      return (.lz4, CRC32C.extend(0, over: bytes.extracting(start..<count)), rawChecksum)
    }
    append(raw)
    return (.stored, rawChecksum, rawChecksum)
  }
}

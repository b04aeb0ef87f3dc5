import RowFormat
import Synchronization

/// Reading single rows of blocks that are not in the cache.
extension PackReader {
  /// Returns a row, by itself or among the others of its block.
  ///
  /// As long as the cache has room, a block is assembled and kept there. Without room, blocks with few reads are not: each row
  /// is cut out of the columns of the mapped file, once the whole block was verified. A block that is read more often replaces
  /// another in the cache.
  ///
  /// - Parameter address: The address of the row, in a pack that belongs to the store.
  /// - Returns: The rows, and the index of the row among them.
  /// - Throws: ``StorageError/corruption(_:)`` if the block is damaged.
  package func row(at address: PackAddress) throws -> (rows: PackedRows, index: Int) {
    try check(address)
    let slot = slots[address.block]
    guard mapping != nil, try isToBeCut(footer.blocks[address.block], slot) else {
      return (try rows(of: address.block), address.row)
    }
    return (try cut(address, slot), 0)
  }

  /// Returns a row for a scan that reads few rows of its block: from the cache, or cut out; nothing of it is kept.
  ///
  /// - Parameters:
  ///   - address: The address of the row, in a pack that belongs to the store.
  ///   - lastIndex: The index of the last row that the scan reads of the block.
  ///   - cut: The means, prepared for this block or for none.
  /// - Returns: The rows, and the index of the row among them; `nil` if the file is not mapped.
  /// - Throws: ``StorageError/corruption(_:)`` if the block is damaged.
  func rowOfScan(
    at address: PackAddress,
    upTo lastIndex: Int,
    _ cut: BlockCut
  ) throws -> (rows: PackedRows, index: Int)? {
    guard mapping != nil else { return nil }
    try check(address)
    if let cached = cachedRows(of: address.block) { return (cached, address.row) }
    let slot = slots[address.block]
    if slot.isDamaged.load(ordering: .relaxed),
      let damage = slot.contents.withLock({ $0.damage })
    {
      throw damage
    }
    return (try self.cut(address, upTo: lastIndex, slot, cut), 0)
  }

  /// Whether a block's rows are not in the cache, and should not be assembled either.
  private func isToBeCut(_ block: BlockEntry, _ slot: BlockSlot) throws -> Bool {
    try slot.contents.withLock { contents in
      if contents.rows != nil { return false }
      if let damage = contents.damage { throw damage }
      if let cache,
        cache.hasRoom || contents.isToBePutTogether(rowCount: block.rowCount)
      {
        return false
      }
      contents.cutCount += 1
      contents.reads.missCount += 1
      return true
    }
  }

  /// Cuts out one row, whose block may not be asked for again.
  private func cut(_ address: PackAddress, _ slot: BlockSlot) throws -> PackedRows {
    try withSpareCut { try cut(address, upTo: address.row, slot, $0) }
  }

  private func cut(
    _ address: PackAddress,
    upTo lastIndex: Int,
    _ slot: BlockSlot,
    _ cut: BlockCut
  ) throws -> PackedRows {
    do {
      return try cutOut(address, upTo: lastIndex, slot, cut)
    } catch let error as StorageError {
      if case .corruption = error { slot.record(damage: error) }
      throw error
    }
  }

  private func cutOut(
    _ address: PackAddress,
    upTo lastIndex: Int,
    _ slot: BlockSlot,
    _ cut: BlockCut
  ) throws -> PackedRows {
    try withIntactBlock(address.block, slot) { bytes, block, schema in
      try prepare(cut, for: bytes, block, schema)
      let layout = schema.rowLayout
      let row = RowCut(address.row, upTo: lastIndex, of: block.rowCount)
      unsafe cut.writer.removeAll()
      unsafe cut.writer.begin(layout)
      let key = try part(cut.chunks[0], of: bytes, block, schema) {
        (chunk, stored) throws(LZ4.Failure) in
        try row.key(of: block, chunk, stored)
      }
      for column in layout.types.indices where cut.chunks[column + 1].isWanted {
        let type = layout.types[column]
        try part(cut.chunks[column + 1], of: bytes, block, schema) {
          (chunk, stored) throws(LZ4.Failure) in
          try unsafe row.append(column, type, chunk, stored, to: &cut.writer) ? () : nil
        }
      }
      return unsafe cut.takeRow(cut.writer.finish(), key: key, schema)
    }
  }

  /// Finds what the rows of a block have in common, unless that was done.
  func prepare(
    _ cut: BlockCut,
    for bytes: RawSpan,
    _ block: BlockEntry,
    _ schema: PackSchema
  ) throws {
    if cut.isPrepared { return }
    let count = schema.columns.count + 1
    cut.reserve(count)
    for number in 0..<count {
      let isWanted = number == 0 || cut.wants(schema.columns[number - 1])
      cut.chunks[number].isWanted = isWanted
      if !isWanted { continue }
      let (entry, start) = try chunk(number, of: bytes, block, schema)
      cut.chunks[number].begin(entry, at: start, try dictionary(of: entry, number, schema))
    }
    cut.isPrepared = true
  }

  /// Lends the means that the last reader of a single row has left, or new ones.
  func withSpareCut<R>(_ body: (BlockCut) throws -> R) rethrows -> R {
    let cut =
      spareCut.withLock { spare in
        defer { spare = nil }
        return spare
      } ?? BlockCut()
    cut.isPrepared = false
    defer {
      // The memory that one large row needed is not kept for ever.
      if cut.memoryByteCount < 1 << 18 { spareCut.withLock { $0 = cut } }
    }
    return try body(cut)
  }

  /// Reads the part of a chunk that belongs to the row.
  @inline(__always)
  func part<R>(
    _ chunk: CutChunk,
    of bytes: RawSpan,
    _ block: BlockEntry,
    _ schema: PackSchema,
    _ read: (CutChunk, RawSpan) throws(LZ4.Failure) -> R?
  ) throws -> R {
    let stored = bytes.extracting(chunk.start..<chunk.entry.end)
    do throws(LZ4.Failure) {
      if let result = try read(chunk, stored) { return result }
    } catch {
      throw damage(
        at: block.offset + chunk.start,
        .truncated(
          .packColumn,
          needed: chunk.entry.rawByteCount,
          available: stored.byteCount
        )
      )
    }
    throw damage(
      at: block.offset + chunk.start,
      .inconsistent(.packColumn, table: schema.table, key: block.firstKey)
    )
  }

  /// Lends the bytes of a block, which is verified at the first use while the pack is open.
  func withIntactBlock<R>(
    _ number: Int,
    _ slot: BlockSlot,
    _ body: (RawSpan, BlockEntry, PackSchema) throws -> R
  ) throws -> R {
    let block = footer.blocks[number]
    let schema = footer.schemas[block.schema]
    fetch(block)
    if !slot.isIntact.load(ordering: .acquiring) {
      try checkAll(of: number, schema)
      slot.isIntact.store(true, ordering: .releasing)
    }
    return try withBytes(block.offset..<(block.offset + block.byteCount)) { bytes in
      try body(bytes, block, schema)
    }
  }

  /// Decodes all columns of a block, once while the pack is open, which verifies every checksum and every value.
  private func checkAll(of number: Int, _ schema: PackSchema) throws {
    let vector = ColumnVector()
    try withBlock(number) { bytes in
      for chunk in 0...schema.columns.count {
        _ = try decode(chunk, of: number, bytes, into: vector)
      }
    }
  }

  /// Returns a chunk's entry after validating it: a mapped file may have changed since it was checked.
  private func chunk(
    _ number: Int,
    of bytes: RawSpan,
    _ block: BlockEntry,
    _ schema: PackSchema
  ) throws(StorageError) -> (entry: ChunkEntry, start: Int) {
    let found = ChunkEntry.read(bytes, number, columnCount: schema.columns.count)
    guard let (entry, start) = found else { throw damage(at: block.offset, .missing(.packColumn)) }
    let source = ColumnContents.Source(
      type: number == 0 ? .integer : schema.rowLayout.types[number - 1],
      encoding: entry.encoding,
      hasNulls: entry.hasNulls,
      rowCount: block.rowCount
    )
    let limit = ColumnContents.byteLimit(source)
    guard entry.rawByteCount <= limit else {
      throw damage(
        at: block.offset + start,
        .invalidField(
          of: .packColumn,
          name: "rawByteCount",
          expected: UInt64(limit),
          found: UInt64(entry.rawByteCount)
        )
      )
    }
    guard entry.codec == .lz4 || entry.end - start == entry.rawByteCount else {
      throw damage(
        at: block.offset + start,
        .truncated(.packColumn, needed: entry.rawByteCount, available: entry.end - start)
      )
    }
    return (entry, start)
  }

  private func dictionary(
    of entry: ChunkEntry,
    _ number: Int,
    _ schema: PackSchema
  ) throws -> PackDictionary? {
    guard entry.encoding == .dictionary, number > 0 else { return nil }
    return try dictionary(table: schema.table, column: schema.columns[number - 1])
  }
}

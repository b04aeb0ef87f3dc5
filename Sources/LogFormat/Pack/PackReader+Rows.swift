public import RowFormat
import Synchronization

/// Reading single rows.
extension PackReader {
  /// Finds a row by its key.
  ///
  /// - Returns: The row's address; `nil` if the pack does not contain the row.
  /// - Throws: ``StorageError/corruption(_:)`` if the keys needed for the search are damaged.
  public func address(of reference: RowReference) throws -> PackAddress? {
    for group in groups where footer.schemas[group.schema].table == reference.table {
      guard let block = block(of: reference.key, in: group) else { continue }
      if let row = try row(of: reference.key, in: block) {
        return PackAddress(block: block, row: row)
      }
    }
    return nil
  }

  /// Appends a row's bytes.
  ///
  /// - Parameters:
  ///   - address: The address of the row, from ``address(of:)`` or ``forEachAddress(_:)``.
  ///   - writer: Writes the row.
  /// - Returns: The row's key and layout, and its range in the writer.
  /// - Throws: ``StorageError/corruption(_:)`` if the block is damaged.
  public func appendRow(
    at address: PackAddress,
    to writer: inout RowWriter
  ) throws -> (reference: RowReference, layout: LayoutNumber, range: Range<Int>) {
    let (rows, index) = try row(at: address)
    return (rows.reference(index), rows.layout, writer.append(row: rows.row(index)))
  }

  /// Lends a row's bytes, with their layout.
  ///
  /// - Returns: The result of `body`; `nil` if the pack has no such row.
  public func withRow<R>(
    _ reference: RowReference,
    _ body: (RawSpan, LayoutNumber) throws -> R
  ) throws -> R? {
    guard let address = try address(of: reference) else { return nil }
    let (rows, index) = try row(at: address)
    return try body(rows.row(index), rows.layout)
  }

  /// Visits the address of every row, block by block.
  public func forEachAddress(
    _ body: (RowReference, PackAddress) throws -> Void
  ) throws {
    let vector = ColumnVector()
    for number in footer.blocks.indices {
      try forEachAddress(inBlock: number, decodingInto: vector, body)
    }
  }

  /// Visits the address of every row of a block.
  ///
  /// - Throws: ``StorageError/corruption(_:)`` if the block's keys are damaged; then no row was visited.
  package func forEachAddress(
    inBlock number: Int,
    decodingInto vector: ColumnVector,
    _ body: (RowReference, PackAddress) throws -> Void
  ) throws {
    let block = footer.blocks[number]
    let keys = try withBlock(number) { try decode(0, of: number, $0, into: vector) }
    let table = footer.schemas[block.schema].table
    for row in 0..<block.rowCount {
      let key = unsafe keys.contents.key(at: row, firstKey: block.firstKey)
      try body(RowReference(table: table, key: key), PackAddress(block: number, row: row))
    }
  }
}

// MARK: Finding

extension PackReader {
  /// Returns the rows of the block of an address.
  package func rows(at address: PackAddress) throws -> PackedRows {
    try check(address)
    return try rows(of: address.block)
  }

  func check(_ address: PackAddress) throws(StorageError) {
    guard footer.blocks.indices.contains(address.block),
      0..<footer.blocks[address.block].rowCount ~= address.row
    else {
      throw damage(
        at: FileHeader.byteCount,
        .invalidField(
          of: .packBlock,
          name: "row",
          expected: UInt64(summary.rowCount),
          found: UInt64(clamping: address.row)
        )
      )
    }
  }

  /// Returns the block of a group whose range of keys contains this one.
  private func block(of key: UInt64, in group: BlockGroup) -> Int? {
    let blocks = group.blocks
    let place = blocks.partitionPoint { footer.blocks[$0].lastKey < key }
    guard place < blocks.count, footer.blocks[blocks[place]].firstKey <= key else { return nil }
    return blocks[place]
  }

  private func row(of key: UInt64, in number: Int) throws -> Int? {
    let block = footer.blocks[number]
    if block.lastKey - block.firstKey == UInt64(block.rowCount - 1) {
      return Int(key - block.firstKey)
    }
    return try rows(of: number).index(of: key)
  }

  /// Returns the rows of a block, from the cache; if they are not there, assembles and caches them.
  package func rows(of number: Int) throws -> PackedRows {
    let slot = slots[number]
    var growth = 0
    let rows = try slot.contents.withLock { contents in
      if let rows = contents.rows {
        contents.reads.hitCount += 1
        return rows
      }
      if let damage = contents.damage { throw damage }
      let rows = PackedRows()
      var vectors = spareVectors.withLock { spare in
        defer { spare = [] }
        return spare
      }
      do {
        try fill(rows, with: number, .all, &vectors)
        slot.isIntact.store(true, ordering: .releasing)
      } catch let error as StorageError {
        // Packs never change: decoding the block again for another row would find the same damage.
        if case .corruption = error {
          contents.damage = error
          slot.isDamaged.store(true, ordering: .relaxed)
        }
        throw error
      }
      // The memory that one large row needed is not kept for ever.
      let decoded = rows.memoryByteCount < 1 << 20 ? vectors : []
      spareVectors.withLock { $0 = decoded }
      // Without a cache, nothing is kept.
      if cache == nil { return rows }
      contents.rows = rows
      contents.reads.missCount += 1
      growth = rows.memoryByteCount
      return rows
    }
    slot.recordUse()
    if growth > 0 { cache?.recordGrowth(of: slot, by: growth) }
    return rows
  }

  /// Returns the rows of a block, if they are in the cache.
  func cachedRows(of number: Int) -> PackedRows? {
    let slot = slots[number]
    guard cache != nil, slot.isInCache.load(ordering: .relaxed) else { return nil }
    return slot.contents.withLock { $0.rows }
  }

  /// Reads a block and assembles its rows.
  ///
  /// - Parameters:
  ///   - rows: Receives the rows.
  ///   - number: The block.
  ///   - part: The rows that are assembled.
  ///   - vectors: The vectors of an earlier block, which are reused for those of this one.
  /// - Throws: ``StorageError/corruption(_:)`` if the block is damaged; the rows are then unchanged.
  func fill(
    _ rows: PackedRows,
    with number: Int,
    _ part: BlockPart,
    _ vectors: inout [ColumnVector]
  ) throws {
    let block = footer.blocks[number]
    let schema = footer.schemas[block.schema]
    while vectors.count <= schema.columns.count { vectors.append(ColumnVector()) }
    fetch(block)
    let wanted = try withBlock(number) { bytes in
      let keys = try decode(0, of: number, bytes, into: vectors[0])
      let wanted = part.rows(of: block, keys)
      for chunk in 1..<(schema.columns.count + 1) {
        _ = try decode(chunk, of: number, bytes, into: vectors[chunk], wanted: wanted)
      }
      return wanted
    }
    guard rows.fill(from: vectors, of: block, schema, wanted) else {
      throw damage(
        at: block.offset,
        .inconsistent(.packBlock, table: schema.table, key: block.firstKey)
      )
    }
  }

  /// Reads a block for a scan, which keeps nothing of it except the fact that it is damaged.
  ///
  /// - Throws: ``StorageError/corruption(_:)`` if the block is damaged; without reading it if the damage was found before.
  func fill(
    _ rows: PackedRows,
    withBlockOfScan number: Int,
    _ part: BlockPart,
    _ vectors: inout [ColumnVector]
  ) throws {
    let slot = slots[number]
    if slot.isDamaged.load(ordering: .relaxed),
      let damage = slot.contents.withLock({ $0.damage })
    {
      throw damage
    }
    do {
      try fill(rows, with: number, part, &vectors)
    } catch let error as StorageError {
      if case .corruption = error { slot.record(damage: error) }
      throw error
    }
  }
}

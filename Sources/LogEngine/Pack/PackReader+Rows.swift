public import RowFormat
import Synchronization

/// Reading single rows.
extension PackReader {
  /// Finds a row by its key.
  ///
  /// - Returns: Where it stands; `nil` if the pack has no such row.
  /// - Throws: ``StorageError/corruption(_:)`` if the keys that would tell are damaged.
  public func address(of reference: RowReference) throws -> PackAddress? {
    for group in groups where footer.schemas[group.schema].table == reference.table {
      guard let block = block(of: reference.key, in: group) else { continue }
      if let row = try row(of: reference.key, in: block) {
        return PackAddress(block: block, row: row)
      }
    }
    return nil
  }

  /// Appends a row's bytes, put together from its columns.
  ///
  /// - Parameters:
  ///   - address: Where the row stands, as ``address(of:)`` or ``forEachAddress(_:)`` said.
  ///   - writer: Where the row goes.
  /// - Returns: The row's key and layout, and where in the writer it is.
  /// - Throws: ``StorageError/corruption(_:)`` if one of its columns is damaged.
  public func appendRow(
    at address: PackAddress,
    to writer: inout RowWriter
  ) throws -> (reference: RowReference, layout: LayoutNumber, range: Range<Int>) {
    let block = try entry(of: address)
    let schema = footer.schemas[block.schema]
    let vectors = try vectors(of: address.block)
    let key = unsafe vectors[0]?.contents.key(at: address.row, firstKey: block.firstKey)
    writer.begin(schema.rowLayout)
    for column in schema.rowLayout.types.indices {
      unsafe vectors[column + 1]?.contents.copy(address.row, to: column, &writer)
    }
    let reference = RowReference(table: schema.table, key: key ?? block.firstKey)
    return (reference, schema.layout, writer.finish())
  }

  /// Lends a row's bytes, with the layout they are in.
  ///
  /// - Returns: What `body` returned, or `nil` if the pack has no such row.
  public func withRow<R>(
    _ reference: RowReference,
    _ body: (RawSpan, LayoutNumber) throws -> R
  ) throws -> R? {
    guard let address = try address(of: reference) else { return nil }
    var writer = RowWriter(capacity: 512)
    let (_, layout, range) = try appendRow(at: address, to: &writer)
    return try body(writer.bytes.extracting(range), layout)
  }

  /// Visits where every row stands, block by block.
  public func forEachAddress(
    _ body: (RowReference, PackAddress) throws -> Void
  ) throws {
    let vector = ColumnVector()
    for number in footer.blocks.indices {
      try forEachAddress(inBlock: number, decodingInto: vector, body)
    }
  }

  /// Visits where every row of a block stands.
  ///
  /// - Throws: ``StorageError/corruption(_:)`` if the block's keys are damaged: then none was visited.
  func forEachAddress(
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
  private func entry(of address: PackAddress) throws(StorageError) -> BlockEntry {
    guard footer.blocks.indices.contains(address.block),
      0..<footer.blocks[address.block].rowCount ~= address.row
    else {
      throw damage(
        at: header.particularEnd,
        .invalidField(
          of: .packBlock,
          name: "row",
          expected: UInt64(summary.rowCount),
          found: UInt64(clamping: address.row)
        )
      )
    }
    return footer.blocks[address.block]
  }

  /// The block of a group whose keys may have this one among them.
  private func block(of key: UInt64, in group: BlockGroup) -> Int? {
    var low = 0
    var high = group.blocks.count
    while low < high {
      let middle = (low + high) / 2
      let lastKey = footer.blocks[group.blocks[middle]].lastKey
      if lastKey < key { low = middle + 1 } else { high = middle }
    }
    guard low < group.blocks.count, footer.blocks[group.blocks[low]].firstKey <= key else {
      return nil
    }
    return group.blocks[low]
  }

  private func row(of key: UInt64, in number: Int) throws -> Int? {
    let block = footer.blocks[number]
    if block.lastKey - block.firstKey == UInt64(block.rowCount - 1) {
      return Int(key - block.firstKey)
    }
    return try unsafe vectors(of: number)[0]?.contents.row(of: key)
  }

  /// The keys and all columns of a block, from the cache or decoded.
  private func vectors(of number: Int) throws -> [ColumnVector?] {
    let slot = slots[number]
    var growth = 0
    let vectors = try slot.contents.withLock { contents in
      if contents.missingCount > 0 || contents.vectors.isEmpty {
        let before = contents.byteCount
        // Of a cache that is not there nothing is kept.
        var filled = contents
        try fill(&filled, from: number)
        if cache == nil { return filled.vectors }
        contents = filled
        growth = contents.byteCount - before
      }
      return contents.vectors
    }
    slot.noteUse()
    if growth > 0 { cache?.noteGrowth(of: slot, by: growth) }
    return vectors
  }

  private func fill(_ contents: inout BlockSlot.Contents, from number: Int) throws {
    let columnCount = footer.schemas[footer.blocks[number].schema].columns.count
    if contents.vectors.isEmpty {
      contents.vectors = Array(repeating: nil, count: columnCount + 1)
      contents.missingCount = columnCount + 1
    }
    try withBlock(number) { bytes in
      for chunk in contents.vectors.indices where contents.vectors[chunk] == nil {
        let vector = try decode(chunk, of: number, bytes)
        contents.vectors[chunk] = vector
        contents.missingCount -= 1
        contents.byteCount += unsafe vector.contents.memoryByteCount
      }
    }
  }
}

extension FileHeader {
  /// Where blocks begin.
  fileprivate var particularEnd: Int { FileHeader.byteCount }
}

import RowFormat

/// Provides a scan with rows of packs; each block is assembled only once.
///
/// Blocks read here stay out of the cache, so that a scan does not evict blocks that single reads need; blocks in the cache are
/// taken from there. Rows in key order come block by block in each pack, but alternate between packs, or layouts: so it keeps
/// as many blocks as may alternate.
@usableFromInline package struct PackedRowsCursor {
  @usableFromInline var blocks: [Block] = []
  /// The position of the block used last.
  @usableFromInline var last = 0
  /// The position of the block to be dropped next.
  private var next = 0
  private var vectors: [ColumnVector] = []
  /// The keys to be read after the number of rows given in `distances`, or greater keys.
  ///
  /// A block that ends before one of them contains fewer of the rows to be read. None is zero, unless all rows are read.
  private var keysAhead: (near: UInt64, middle: UInt64, far: UInt64) = (0, 0, 0)

  package init() {}

  private static let blockLimit = 8
  /// Limits of the rows cut out of a block before it is assembled instead; the block's row count selects one.
  private static let distances = (near: 4, middle: 12, far: 32)
  /// The number of rows assembled in the time that cutting out one takes.
  private static let rowsPerCut = 20

  @usableFromInline struct Block {
    @usableFromInline var pack: SegmentID
    @usableFromInline var number: Int
    @usableFromInline var rows: PackedRows
  }

  /// Returns the rows of the block that contains a row.
  ///
  /// - Parameters:
  ///   - place: The place of the row, in a pack that belongs to the store.
  ///   - pack: The pack of the place.
  /// - Returns: The rows.
  /// - Throws: ``StorageError/corruption(_:)`` if the block is damaged.
  package mutating func rows(at place: RecordPlace, of pack: PackReader) throws -> PackedRows {
    let (file, address) = (place.segment, place.packAddress)
    if let known = known(file, address.block), address.row < known.count { return known }
    guard pack.footer.blocks.indices.contains(address.block),
      address.row < pack.footer.blocks[address.block].rowCount
    else { return try pack.rows(at: address) }
    return try load(address.block, of: pack, file)
  }

  /// Announces the rows that are read next.
  ///
  /// - Parameters:
  ///   - keys: The keys of all rows to be read, ascending.
  ///   - index: The index of the row that is read now.
  @inline(__always)
  package mutating func expect(_ keys: Span<UInt64>, from index: Int) {
    func key(_ distance: Int) -> UInt64 {
      let ahead = index + distance - 1
      return ahead < keys.count ? keys[ahead] : .max
    }
    let distances = Self.distances
    keysAhead = (key(distances.near), key(distances.middle), key(distances.far))
  }

  /// Returns a row cut out of its block, if the block contains few of the rows to be read.
  ///
  /// - Parameters:
  ///   - place: The place of the row, in a pack that belongs to the store.
  ///   - pack: The pack of the place.
  /// - Returns: The rows, and the index of the row among them; `nil` if its block should be assembled.
  /// - Throws: ``StorageError/corruption(_:)`` if the block is damaged.
  package func cut(
    _ place: RecordPlace,
    of pack: PackReader
  ) throws -> (rows: PackedRows, index: Int)? {
    let address = place.packAddress
    guard keysAhead.near > 0, pack.footer.blocks.indices.contains(address.block),
      isToBeCut(pack.footer.blocks[address.block])
    else { return nil }
    return try pack.rowOfScan(at: address)
  }

  /// Whether too few rows of a block are still to be read for assembling it.
  private func isToBeCut(_ block: BlockEntry) -> Bool {
    let cuts = block.rowCount / Self.rowsPerCut
    if cuts >= Self.distances.far { return block.lastKey < keysAhead.far }
    if cuts >= Self.distances.middle { return block.lastKey < keysAhead.middle }
    return block.lastKey < keysAhead.near
  }

  /// Returns the rows of a block that is already loaded.
  @inlinable @inline(__always)
  package mutating func known(_ pack: SegmentID, _ number: Int) -> PackedRows? {
    if last < blocks.count, blocks[last].number == number, blocks[last].pack == pack {
      return blocks[last].rows
    }
    guard let found = blocks.firstIndex(where: { $0.number == number && $0.pack == pack }) else {
      return nil
    }
    last = found
    return blocks[found].rows
  }

  private mutating func load(
    _ number: Int,
    of pack: PackReader,
    _ file: SegmentID
  ) throws -> PackedRows {
    // The preceding block of the same pack is not needed again.
    let position =
      blocks.firstIndex { $0.pack == file && $0.number + 1 == number } ?? newPosition()
    if let cached = pack.cachedRows(of: number) {
      put(Block(pack: file, number: number, rows: cached), at: position)
      return cached
    }
    var rows = position < blocks.count ? blocks[position].rows : PackedRows()
    // Taken out of the list, to check whether any other reference to the rows is left, the cache's for instance.
    if position < blocks.count { blocks[position].rows = Self.none }
    if !isKnownUniquelyReferenced(&rows) { rows = PackedRows() }
    do {
      try pack.fill(rows, withBlockOfScan: number, &vectors)
    } catch {
      if position < blocks.count { blocks.remove(at: position) }
      throw error
    }
    put(Block(pack: file, number: number, rows: rows), at: position)
    return rows
  }

  private static let none = PackedRows()

  private mutating func newPosition() -> Int {
    if blocks.count < Self.blockLimit { return blocks.count }
    next = (next + 1) % Self.blockLimit
    return next
  }

  private mutating func put(_ block: Block, at position: Int) {
    if position < blocks.count { blocks[position] = block } else { blocks.append(block) }
    last = position
  }
}

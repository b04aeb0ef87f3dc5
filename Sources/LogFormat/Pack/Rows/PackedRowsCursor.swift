import RowFormat

/// Serves a scan with rows of packs, each block of which it puts together once.
///
/// What it reads stays out of the cache, so that a scan does not drive out what single reads need; what is in
/// the cache is taken from there. Rows that come in the order of their keys come block by block in each pack,
/// but those of several packs, or layouts, by turns: so it keeps as many blocks as there may be turns.
@usableFromInline package struct PackedRowsCursor {
  @usableFromInline var blocks: [Block] = []
  /// The position of the block that was asked for last.
  @usableFromInline var last = 0
  /// The position of the block that is let go next.
  private var next = 0
  private var vectors: [ColumnVector] = []
  /// The keys that are read so many rows later as `distances` says, or greater ones.
  ///
  /// A block that ends before one of them has fewer of the rows to be read. None is zero, unless all rows are read.
  private var keysAhead: (near: UInt64, middle: UInt64, far: UInt64) = (0, 0, 0)

  package init() {}

  private static let blockLimit = 8
  /// How many rows of a block are cut out at most before it is put together instead; which one depends on how many it has.
  private static let distances = (near: 4, middle: 12, far: 32)
  /// How many rows are put together in the time in which one is cut out.
  private static let rowsPerCut = 20

  @usableFromInline struct Block {
    @usableFromInline var pack: SegmentID
    @usableFromInline var number: Int
    @usableFromInline var rows: PackedRows
  }

  /// The rows of the block in which a row stands.
  ///
  /// - Parameters:
  ///   - place: Where it is, in a pack that is part of the store.
  ///   - pack: That pack.
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

  /// Says which rows are read next.
  ///
  /// - Parameters:
  ///   - keys: All that are read, ascending.
  ///   - index: The one that is read now.
  @inline(__always)
  package mutating func expect(_ keys: Span<UInt64>, from index: Int) {
    func key(_ distance: Int) -> UInt64 {
      let ahead = index + distance - 1
      return ahead < keys.count ? keys[ahead] : .max
    }
    let distances = Self.distances
    keysAhead = (key(distances.near), key(distances.middle), key(distances.far))
  }

  /// A row cut out of its block, if the block has few of the rows to be read.
  ///
  /// - Parameters:
  ///   - place: Where it is, in a pack that is part of the store.
  ///   - pack: That pack.
  /// - Returns: The row, and which of the rows it is; `nil` if its block is to be put together.
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

  /// Whether too few rows of a block are still to be read for it to be put together.
  private func isToBeCut(_ block: BlockEntry) -> Bool {
    let cuts = block.rowCount / Self.rowsPerCut
    if cuts >= Self.distances.far { return block.lastKey < keysAhead.far }
    if cuts >= Self.distances.middle { return block.lastKey < keysAhead.middle }
    return block.lastKey < keysAhead.near
  }

  /// A block that is at hand.
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
    // The block that precedes in the same pack is not needed again.
    let position =
      blocks.firstIndex { $0.pack == file && $0.number + 1 == number } ?? newPosition()
    if let cached = pack.cachedRows(of: number) {
      put(Block(pack: file, number: number, rows: cached), at: position)
      return cached
    }
    var rows = position < blocks.count ? blocks[position].rows : PackedRows()
    // Out of the list, so that it can be told whether anyone else still has the rows, the cache for one.
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

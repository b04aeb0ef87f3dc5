import RowFormat

/// Provides a scan with rows of packs; each block is decoded only once.
///
/// Blocks read here stay out of the cache, so that a scan does not evict blocks that single reads need; blocks in the cache are
/// taken from there. Rows in key order come block by block in each pack, but alternate between packs, or layouts: so it keeps
/// as many blocks as may alternate. If the scan announces the rows that it reads, only those between the first and the last of
/// them in a block are assembled; a few are cut out.
@usableFromInline package struct PackedRowsCursor {
  @usableFromInline var blocks: [Block] = []
  /// The position of the block used last.
  @usableFromInline var last = 0
  /// The position of the block to be dropped next.
  private var next = 0
  private var vectors: [ColumnVector] = []
  private var ahead = KeysAhead()
  /// The means to cut out rows, and the block for which they are prepared.
  private var cutting: (cut: BlockCut, pack: SegmentID, number: Int)?
  /// The numbers of the columns that rows which are cut out need; `nil` for all.
  private let columns: [UInt16]?

  /// - Parameter columns: The numbers of the columns whose values are looked at; `nil` for all. Others may be null.
  package init(columns: [UInt16]? = nil) { self.columns = columns }

  private static let blockLimit = 8
  // The costs of a block, in rows that are assembled.
  /// The cost of cutting out a row, and what the first one of a block costs in addition.
  private static let cutCost = (row: 8, block: 12)
  /// The cost of decoding a block's columns for assembling rows, and the number of rows that are decoded at the cost of one.
  private static let decodingCost = (block: 24, rowsDecoded: 5)

  @usableFromInline struct Block {
    @usableFromInline var pack: SegmentID
    @usableFromInline var number: Int
    @usableFromInline var rows: PackedRows
  }

  /// Returns rows of the block that contains a row: this one, and those that are read next.
  ///
  /// - Parameters:
  ///   - place: The place of the row, in a pack that belongs to the store.
  ///   - pack: The pack of the place.
  /// - Returns: The rows.
  /// - Throws: ``StorageError/corruption(_:)`` if the block is damaged.
  package mutating func rows(at place: RecordPlace, of pack: PackReader) throws -> PackedRows {
    let (file, address) = (place.segment, place.packAddress)
    if let known = known(file, address) { return known }
    guard pack.footer.blocks.indices.contains(address.block),
      address.row < pack.footer.blocks[address.block].rowCount
    else { return try pack.rows(at: address) }
    return try load(address, of: pack, file)
  }

  /// Announces the rows that are read next.
  ///
  /// - Parameters:
  ///   - keys: The keys of all rows to be read, ascending.
  ///   - index: The index of the row that is read now.
  @inline(__always)
  package mutating func expect(_ keys: Span<UInt64>, from index: Int) {
    ahead.proceed(to: index, of: keys)
  }

  /// Returns a row cut out of its block, if the block contains few of the rows to be read.
  ///
  /// - Parameters:
  ///   - place: The place of the row, in a pack that belongs to the store.
  ///   - pack: The pack of the place.
  /// - Returns: The rows, and the index of the row among them; `nil` if its block should be assembled.
  /// - Throws: ``StorageError/corruption(_:)`` if the block is damaged.
  package mutating func cut(
    _ place: RecordPlace,
    of pack: PackReader
  ) throws -> (rows: PackedRows, index: Int)? {
    let address = place.packAddress
    guard pack.footer.blocks.indices.contains(address.block) else { return nil }
    let block = pack.footer.blocks[address.block]
    guard let (count, keys) = ahead.keys(of: block) else { return nil }
    // A gap in the keys makes the last row be nearer.
    let span = min(Int(clamping: keys.upperBound - keys.lowerBound), block.rowCount - 1)
    guard isToBeCut(count, among: span + 1, isCut(place)) else { return nil }
    let lastIndex = address.row + span
    return try pack.rowOfScan(at: address, upTo: lastIndex, means(for: place))
  }

  /// Whether too few rows of a block are still to be read for assembling all between the first and the last of them.
  private func isToBeCut(_ count: Int, among assembledCount: Int, _ isCutAlready: Bool) -> Bool {
    let (cut, decoding) = (Self.cutCost, Self.decodingCost)
    return count * cut.row + (isCutAlready ? 0 : cut.block)
      < assembledCount + assembledCount / decoding.rowsDecoded + decoding.block
  }

  /// Whether rows are being cut out of the block of a place.
  private func isCut(_ place: RecordPlace) -> Bool {
    guard let (_, pack, number) = cutting else { return false }
    return pack == place.segment && number == place.packAddress.block
  }

  /// The means to cut rows out of the block of a place.
  private mutating func means(for place: RecordPlace) -> BlockCut {
    let cut = cutting?.cut ?? BlockCut(columns)
    if !isCut(place) { cut.isPrepared = false }
    cutting = (cut, place.segment, place.packAddress.block)
    return cut
  }

  /// Returns rows of a block that are already loaded, if the row is among them.
  @inlinable @inline(__always)
  package mutating func known(_ pack: SegmentID, _ address: PackAddress) -> PackedRows? {
    let number = address.block
    if last < blocks.count, blocks[last].number == number, blocks[last].pack == pack {
      return blocks[last].rows.contains(address.row) ? blocks[last].rows : nil
    }
    guard let found = blocks.firstIndex(where: { $0.number == number && $0.pack == pack }),
      blocks[found].rows.contains(address.row)
    else { return nil }
    last = found
    return blocks[found].rows
  }

  private mutating func load(
    _ address: PackAddress,
    of pack: PackReader,
    _ file: SegmentID
  ) throws -> PackedRows {
    let number = address.block
    // The rows before this one, and the preceding block of the same pack, are not needed again.
    let position =
      blocks.firstIndex { $0.pack == file && ($0.number == number || $0.number + 1 == number) }
      ?? newPosition()
    if let cached = pack.cachedRows(of: number) {
      put(Block(pack: file, number: number, rows: cached), at: position)
      return cached
    }
    var rows = position < blocks.count ? blocks[position].rows : PackedRows()
    // Taken out of the list, to check whether any other reference to the rows is left, the cache's for instance.
    if position < blocks.count { blocks[position].rows = Self.none }
    if !isKnownUniquelyReferenced(&rows) { rows = PackedRows() }
    do {
      try pack.fill(rows, withBlockOfScan: number, wanted(of: address, in: pack), &vectors)
    } catch {
      if position < blocks.count { blocks.remove(at: position) }
      throw error
    }
    put(Block(pack: file, number: number, rows: rows), at: position)
    return rows
  }

  /// The rows of a block that are to be assembled.
  private func wanted(of address: PackAddress, in pack: PackReader) -> BlockPart {
    if ahead.isEmpty { return .all }
    let keys = ahead.keys(of: pack.footer.blocks[address.block])?.keys
    return BlockPart(firstRow: address.row, lastKey: keys?.upperBound ?? .max)
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

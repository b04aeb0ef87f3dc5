/// One block of a scan, whose columns are decoded on demand.
public struct PackBlock: ~Copyable {
  package let reader: PackReader
  /// The block's number in the pack.
  public private(set) var number = 0
  /// The position of each column of the scan in the layout of this block.
  private var positions: [Int?]
  /// The keys, then the columns of the scan, as far as they were decoded in this block.
  private var current: [ColumnVector?]
  /// Vectors of earlier blocks, for reuse.
  private var spare: [ColumnVector?]

  package init(_ reader: PackReader, columnCount: Int) {
    self.reader = reader
    positions = Array(repeating: nil, count: columnCount)
    current = Array(repeating: nil, count: columnCount + 1)
    spare = current
  }

  package mutating func move(to number: Int, _ positions: [Int?]) {
    self.number = number
    self.positions = positions
    for index in current.indices where current[index] != nil { current[index] = nil }
  }

  private var entry: BlockEntry { reader.footer.blocks[number] }

  /// The number of rows in the block.
  public var rowCount: Int { entry.rowCount }

  /// The layout of its rows.
  public var layout: LayoutNumber { reader.footer.schemas[entry.schema].layout }

  /// Whether the rows have a column of the scan; if not, it is null in all of them.
  public func hasColumn(_ index: Int) -> Bool { positions[index] != nil }

  /// Returns the values of a column.
  ///
  /// The vector may be refilled with other values when the scan continues, unless the caller retains it.
  ///
  /// - Parameter index: The column's position among those that the scan requested.
  /// - Returns: The vector.
  /// - Throws: ``StorageError/corruption(_:)`` if the column is damaged.
  public mutating func column(_ index: Int) throws -> ColumnVector {
    if let known = current[index + 1] { return known }
    guard let position = positions[index] else {
      let absent = ColumnVector()
      unsafe absent.contents.count = rowCount
      unsafe absent.contents.nullCount = rowCount
      current[index + 1] = absent
      return absent
    }
    return try load(position + 1, as: index + 1)
  }

  /// Returns the key of a row.
  ///
  /// - Throws: ``StorageError/corruption(_:)`` if the keys are damaged.
  public mutating func key(of row: Int) throws -> UInt64 {
    let keys = try current[0] ?? load(0, as: 0)
    return unsafe keys.contents.key(at: row, firstKey: entry.firstKey)
  }

  /// Returns the size in the file of the columns decoded, and of the keys if they were, in bytes.
  package func decodedByteCount() throws -> Int {
    let columnCount = reader.footer.schemas[entry.schema].columns.count
    return try reader.withBlock(number) { bytes in
      var count = 0
      for index in current.indices where current[index] != nil {
        guard let chunk = index == 0 ? 0 : positions[index - 1].map({ $0 + 1 }),
          let (entry, start) = ChunkEntry.read(bytes, chunk, columnCount: columnCount)
        else { continue }
        count += entry.end - start
      }
      return count
    }
  }

  private mutating func load(_ chunk: Int, as index: Int) throws -> ColumnVector {
    // A vector that only the scan refers to is reused; one that the caller retained is not.
    var reused = spare[index]
    spare[index] = nil
    if reused != nil, !isKnownUniquelyReferenced(&reused) { reused = nil }
    let vector = try reader.withBlock(number) {
      try reader.decode(chunk, of: number, $0, into: reused)
    }
    current[index] = vector
    spare[index] = vector
    return vector
  }
}

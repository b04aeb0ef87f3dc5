extension PackReader {
  /// Visits the blocks of a table that may have rows of interest, by layout and key.
  ///
  /// Blocks read here stay out of the cache, so that a scan does not evict blocks that single reads need.
  ///
  /// - Parameters:
  ///   - table: The table.
  ///   - columns: The columns to read, by their numbers in the catalogue.
  ///   - conditions: Conditions that all rows of interest meet; blocks whose bounds rule them out are skipped.
  ///   - keys: The keys to visit; all, if `nil`. A block may contain others, too.
  ///   - body: Called with each block.
  /// - Throws: ``StorageError/corruption(_:)`` if a block is damaged, or any error that `body` throws.
  public func scanColumns(
    _ table: UInt16,
    _ columns: [UInt16],
    where conditions: [ZoneCondition] = [],
    in keys: Range<UInt64>? = nil,
    _ body: (inout PackBlock) throws -> ScanControl
  ) throws {
    var block = PackBlock(self, columnCount: columns.count)
    for group in groups where footer.schemas[group.schema].table == table {
      let positions = positions(of: columns, inSchema: group.schema)
      for number in group.blocks {
        let entry = footer.blocks[number]
        if let keys, entry.lastKey < keys.lowerBound || entry.firstKey >= keys.upperBound {
          continue
        }
        guard mayHold(conditions, inBlock: number) else { continue }
        block.move(to: number, positions)
        if try body(&block) == .stop { return }
      }
    }
  }

  /// Returns the positions of columns in the layout of a schema.
  package func positions(of columns: [UInt16], inSchema number: Int) -> [Int?] {
    let schema = footer.schemas[number]
    return columns.map { schema.columns.firstIndex(of: $0) }
  }

  /// Whether a block may have a row that meets all conditions.
  package func mayHold(_ conditions: [ZoneCondition], inBlock number: Int) -> Bool {
    conditions.allSatisfy { mayHold($0, inBlock: number) }
  }

  /// Whether a block may have a row that meets a condition.
  package func mayHold(_ condition: ZoneCondition, inBlock number: Int) -> Bool {
    let entry = footer.blocks[number]
    let schema = footer.schemas[entry.schema]
    let position = schema.columns.firstIndex(of: condition.column)
    return condition.mayHold(
      position.map { footer.zones[entry.zoneStart + $0] },
      position.map { schema.rowLayout.types[$0] }
    )
  }

  /// Reads the whole pack and checks it against its checksums and the footer.
  ///
  /// - Returns: The number of rows.
  /// - Throws: ``StorageError/corruption(_:)`` at the first damage.
  public func verify() throws -> Int {
    var rowCount = 0
    let vector = ColumnVector()
    for (number, block) in footer.blocks.enumerated() {
      try verify(block: number, with: vector)
      rowCount += block.rowCount
    }
    return rowCount
  }

  /// Reads a block and checks it against its checksums and the footer.
  ///
  /// - Parameters:
  ///   - number: The number of the block in the pack.
  ///   - vector: Memory to decode into.
  /// - Throws: ``StorageError/corruption(_:)`` at the first damage.
  package func verify(block number: Int, with vector: ColumnVector) throws {
    let columnCount = footer.schemas[footer.blocks[number].schema].columns.count
    try withBlock(number) { bytes in
      for chunk in 0...columnCount { _ = try decode(chunk, of: number, bytes, into: vector) }
    }
  }
}

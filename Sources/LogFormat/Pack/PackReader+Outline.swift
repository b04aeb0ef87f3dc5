package import RowFormat
import Synchronization

/// The properties of a row without its values.
package struct RowOutline: Hashable, Sendable {
  package var reference: RowReference
  package var layout: LayoutNumber
  /// The size of the row, in bytes.
  package var byteCount: Int
}

// Describing a row that a commit replaces, without reading it.
extension PackReader {
  /// Returns a row's name, layout and size.
  ///
  /// No value is read, and nothing is kept in the cache: of each column of variable width only the lengths are read, of the
  /// others nothing.
  ///
  /// - Parameter address: The address of the row, in a pack that belongs to the store.
  /// - Returns: The row's name, layout and size.
  /// - Throws: ``StorageError/corruption(_:)`` if the block is damaged.
  package func outline(at address: PackAddress) throws -> RowOutline {
    try check(address)
    if let cached = cachedRows(of: address.block) { return outline(address.row, of: cached) }
    guard mapping != nil else {
      let (rows, index) = try row(at: address)
      return outline(index, of: rows)
    }
    let slot = slots[address.block]
    if slot.isDamaged.load(ordering: .relaxed),
      let damage = slot.contents.withLock({ $0.damage })
    {
      throw damage
    }
    do {
      return try measure(address, slot)
    } catch let error as StorageError {
      if case .corruption = error { slot.record(damage: error) }
      throw error
    }
  }

  private func outline(_ index: Int, of rows: PackedRows) -> RowOutline {
    RowOutline(
      reference: rows.reference(index),
      layout: rows.layout,
      byteCount: rows.row(index).byteCount
    )
  }

  private func measure(_ address: PackAddress, _ slot: BlockSlot) throws -> RowOutline {
    try withSpareCut { cut in
      try withIntactBlock(address.block, slot) { bytes, block, schema in
        try prepare(cut, for: bytes, block, schema)
        let layout = schema.rowLayout
        let row = RowCut(address.row, upTo: address.row, of: block.rowCount)
        let key = try part(cut.chunks[0], of: bytes, block, schema) {
          (chunk, stored) throws(LZ4.Failure) in
          try row.key(of: block, chunk, stored)
        }
        var data = 0
        for column in layout.types.indices where layout.types[column].isVariable {
          let type = layout.types[column]
          data += try part(cut.chunks[column + 1], of: bytes, block, schema) {
            (chunk, stored) throws(LZ4.Failure) in
            try row.byteCount(type, chunk, stored)
          }
        }
        return RowOutline(
          reference: RowReference(table: schema.table, key: key),
          layout: schema.layout,
          byteCount: layout.byteCount(ofData: data)
        )
      }
    }
  }
}

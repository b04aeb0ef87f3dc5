import RowFormat

/// The table of contents of a pack: read once, when the pack is opened.
///
/// Stored as one LZ4 block, or uncompressed if that gains nothing; the ``PackTrailer`` says which. Numbers are varints, unless
/// a size is given.
///
///     firstSequence, lastSequence   the commits whose rows were packed
///     schemas       a count, then for each: table, layout, a count of columns, and for each column its
///                   number and, in one byte, its ``ColumnType``
///     tables        a count, then for each: table, next key, the byte count of its rows' records, and the
///                   keys that were deleted for good: a count of runs, then for each the gap since the run
///                   before and its length
///     dictionaries  a count, then for each: table, column number, count of values, stored byte count, byte
///                   count, ``ChunkCodec`` in one byte, CRC-32C of the stored bytes in four bytes, of the
///                   uncompressed ones in four bytes
///     blocks        a count, then for each: position of its schema, row count, first key, last key less
///                   first key, byte count, and a ``ZoneMap`` for each column
///
/// Blocks follow each other from byte 4,096 on, in this order; then come the dictionaries; so neither needs an offset. A
/// dictionary is an ``IntegerCoding`` of its values' lengths, then their bytes.
package struct PackFooter: Hashable {
  var firstSequence: UInt64 = 0
  package var lastSequence: UInt64 = 0
  package var schemas: [PackSchema] = []
  package var tables: [PackTable] = []
  var dictionaries: [DictionaryEntry] = []
  package var blocks: [BlockEntry] = []
  /// The bounds of all blocks' columns; each block has the index of its own.
  var zones: [ZoneMap] = []
}

/// The columns of rows of one table and layout.
package struct PackSchema: Hashable, Sendable {
  package var table: UInt16
  var layout: LayoutNumber
  /// The columns' numbers in the catalogue, in row order.
  var columns: [UInt16]
  var rowLayout: RowLayout
}

/// The contents of a pack for one table, beside its rows.
package struct PackTable: Hashable, Sendable {
  package var table: UInt16
  /// No row had this key or a greater one when the pack was written.
  package var nextKey: UInt64
  /// The size of the table's rows in the log, including the records' headers, in bytes.
  package var recordByteCount = 0
  /// Runs of keys whose rows were deleted for good, ascending.
  package var deletedKeys: [Range<UInt64>] = []
}

/// A dictionary and its place.
struct DictionaryEntry: Hashable, Sendable {
  var table: UInt16
  var column: UInt16
  var valueCount: Int
  var storedByteCount: Int
  var rawByteCount: Int
  var codec: ChunkCodec
  var checksum: UInt32
  var rawChecksum: UInt32
  /// Computed, not stored.
  var offset = 0
}

/// A block and its place.
package struct BlockEntry: Hashable, Sendable {
  package var schema: Int
  package var rowCount: Int
  package var firstKey: UInt64
  package var lastKey: UInt64
  package var byteCount: Int
  /// Computed, not stored.
  var offset = 0
  /// The index of the block's first bounds in the footer's list; computed, not stored.
  var zoneStart = 0
}

import RowFormat

/// The rows of a block, or some that follow each other, assembled from its columns, in memory one behind the other.
///
/// Rows are named by their index in the block.
///
/// The cache contains these, and reads of rows are served from them: so a row is one contiguous range of memory, as in the log.
@safe @usableFromInline package final class PackedRows: @unchecked Sendable {
  // Read row by row, so no access may cost a run-time exclusivity check. There are no overlapping accesses: the rows are filled
  // in before other threads can see them, and refilled only by a scan with the sole reference.
  @exclusivity(unchecked) @usableFromInline var bytes = ByteBuffer(capacity: 64)
  /// The offset at which each row begins, and the end of the last.
  @safe @exclusivity(unchecked) @usableFromInline var starts: [Int] = []
  /// The index in the block of the first row that is here.
  @safe @exclusivity(unchecked) @usableFromInline package var firstRow = 0
  /// The rows' keys; empty if those of the block have no gap.
  @safe @exclusivity(unchecked) @usableFromInline package var keys: [UInt64] = []
  /// The key of the block's first row.
  @safe @exclusivity(unchecked) @usableFromInline package var firstKey: UInt64 = 0
  @safe @exclusivity(unchecked) @usableFromInline package var table: UInt16 = 0
  @safe @exclusivity(unchecked) @usableFromInline package var layout = LayoutNumber(0)

  /// The room for a record's header, in bytes, before the first row.
  @usableFromInline static var margin: Int { RecordHeader.shortByteCount }

  package init() {}

  /// The number of rows that are here.
  @inlinable package var count: Int { starts.count - 1 }

  /// Whether a row is here.
  @inlinable package func contains(_ index: Int) -> Bool {
    index >= firstRow && index - firstRow < count
  }

  /// The memory of the rows, in bytes.
  var memoryByteCount: Int { unsafe bytes.count + starts.count * 8 + keys.count * 8 + 128 }

  /// The bytes of a row.
  @inlinable @_lifetime(borrow self)
  package func row(_ index: Int) -> RawSpan {
    let place = index - firstRow
    let range = starts[place]..<starts[place + 1]
    return unsafe _overrideLifetime(bytes.bytes.extracting(range), borrowing: self)
  }

  /// The bytes of a row, preceded by the room for a record's header.
  @inlinable @_lifetime(borrow self)
  package func record(_ index: Int) -> RawSpan {
    let place = index - firstRow
    let range = (starts[place] - Self.margin)..<starts[place + 1]
    return unsafe _overrideLifetime(bytes.bytes.extracting(range), borrowing: self)
  }

  /// Returns the name of a row.
  @inlinable package func reference(_ index: Int) -> RowReference {
    RowReference(
      table: table,
      key: keys.isEmpty ? firstKey + UInt64(index) : keys[index - firstRow]
    )
  }

  /// Returns the index of the row with a key.
  @inlinable package func index(of key: UInt64) -> Int? {
    if keys.isEmpty {
      guard key >= firstKey, key - firstKey < UInt64(firstRow + count) else { return nil }
      let index = Int(key - firstKey)
      return contains(index) ? index : nil
    }
    let place = keys.partitionPoint { $0 < key }
    return place < keys.count && keys[place] == key ? firstRow + place : nil
  }

  /// Takes one row that was cut out of its block.
  func fill(with row: RawSpan, key: UInt64, _ schema: PackSchema) {
    firstKey = key
    firstRow = 0
    table = schema.table
    layout = schema.layout
    unsafe bytes.removeAll()
    unsafe bytes.appendZeros(Self.margin)
    unsafe bytes.append(row)
    starts.removeAll(keepingCapacity: true)
    starts.append(Self.margin)
    unsafe starts.append(bytes.count)
  }

  /// Assembles rows of a block.
  ///
  /// - Parameters:
  ///   - vectors: The keys, then the columns.
  ///   - block: The block's entry in the footer.
  ///   - schema: The block's table and layout.
  ///   - rows: The rows that are wanted.
  /// - Returns: `false` if there are more bytes than a block may have; then there are no rows.
  func fill(
    from vectors: [ColumnVector],
    of block: BlockEntry,
    _ schema: PackSchema,
    _ rows: Range<Int>
  ) -> Bool {
    firstKey = block.firstKey
    firstRow = rows.lowerBound
    table = schema.table
    layout = schema.layout
    keys.removeAll(keepingCapacity: true)
    let keyVector = vectors[0]
    if keyVector.form != .dense {
      let found = keyVector.integers
      for row in rows { keys.append(UInt64(bitPattern: found[row])) }
    }
    var assembly = RowAssembly(layout: schema.rowLayout, rows: rows)
    return unsafe assembly.run(vectors, from: Self.margin, into: &bytes, &starts)
  }
}

/// The part of a block whose rows are assembled.
struct BlockPart {
  let firstRow: Int
  /// The greatest key; the block may end before it.
  let lastKey: UInt64

  static let all = BlockPart(firstRow: 0, lastKey: .max)

  /// The indices of the rows in a block; at least the first one.
  func rows(of block: BlockEntry, _ keys: ColumnVector) -> Range<Int> {
    if keys.form == .dense {
      if lastKey >= block.lastKey { return firstRow..<block.rowCount }
      // An index that is wrong may lead to a row of another key.
      let wanted = lastKey < block.firstKey ? 0 : Int(lastKey - block.firstKey) + 1
      return firstRow..<max(wanted, firstRow + 1)
    }
    let found = keys.integers
    var end = firstRow + 1
    while end < block.rowCount, UInt64(bitPattern: found[end]) <= lastKey { end += 1 }
    return firstRow..<end
  }
}

import RowFormat

/// The rows of a block, assembled from its columns, in memory one behind the other.
///
/// The cache contains these, and reads of rows are served from them: so a row is one contiguous range of memory, as in the log.
@safe @usableFromInline package final class PackedRows: @unchecked Sendable {
  // Read row by row, so no access may cost a run-time exclusivity check. There are no overlapping accesses: the rows are filled
  // in before other threads can see them, and refilled only by a scan with the sole reference.
  @exclusivity(unchecked) @usableFromInline var bytes = ByteBuffer(capacity: 64)
  /// The offset at which each row begins, and the end of the last.
  @safe @exclusivity(unchecked) @usableFromInline var starts: [Int] = []
  /// The rows' keys; empty if they have no gap.
  @safe @exclusivity(unchecked) @usableFromInline package var keys: [UInt64] = []
  @safe @exclusivity(unchecked) @usableFromInline package var firstKey: UInt64 = 0
  @safe @exclusivity(unchecked) @usableFromInline package var table: UInt16 = 0
  @safe @exclusivity(unchecked) @usableFromInline package var layout = LayoutNumber(0)

  /// The room for a record's header, in bytes, before the first row.
  @usableFromInline static var margin: Int { RecordHeader.shortByteCount }

  package init() {}

  @inlinable package var count: Int { starts.count - 1 }

  /// The memory of the rows, in bytes.
  var memoryByteCount: Int { unsafe bytes.count + starts.count * 8 + keys.count * 8 + 128 }

  /// The bytes of a row.
  @inlinable @_lifetime(borrow self)
  package func row(_ index: Int) -> RawSpan {
    let range = starts[index]..<starts[index + 1]
    return unsafe _overrideLifetime(bytes.bytes.extracting(range), borrowing: self)
  }

  /// The bytes of a row, preceded by the room for a record's header.
  @inlinable @_lifetime(borrow self)
  package func record(_ index: Int) -> RawSpan {
    let range = (starts[index] - Self.margin)..<starts[index + 1]
    return unsafe _overrideLifetime(bytes.bytes.extracting(range), borrowing: self)
  }

  /// Returns the name of a row.
  @inlinable package func reference(_ index: Int) -> RowReference {
    RowReference(table: table, key: keys.isEmpty ? firstKey + UInt64(index) : keys[index])
  }

  /// Returns the index of the row with a key.
  @inlinable package func index(of key: UInt64) -> Int? {
    if keys.isEmpty {
      guard key >= firstKey, key - firstKey < UInt64(count) else { return nil }
      return Int(key - firstKey)
    }
    var low = 0
    var high = keys.count
    while low < high {
      let middle = (low + high) / 2
      if keys[middle] < key { low = middle + 1 } else { high = middle }
    }
    return low < keys.count && keys[low] == key ? low : nil
  }

  /// Takes one row that was cut out of its block.
  func fill(with row: RawSpan, key: UInt64, _ schema: PackSchema) {
    firstKey = key
    table = schema.table
    layout = schema.layout
    unsafe bytes.removeAll()
    unsafe bytes.appendZeros(Self.margin)
    unsafe bytes.append(row)
    starts = unsafe [Self.margin, bytes.count]
  }

  /// Assembles the rows of a block.
  ///
  /// - Parameters:
  ///   - vectors: The keys, then the columns.
  ///   - block: The block's entry in the footer.
  ///   - schema: The block's table and layout.
  /// - Returns: `false` if there are more bytes than a block may have; then there are no rows.
  package func fill(
    from vectors: [ColumnVector],
    of block: BlockEntry,
    _ schema: PackSchema
  ) -> Bool {
    firstKey = block.firstKey
    table = schema.table
    layout = schema.layout
    keys.removeAll(keepingCapacity: true)
    let keyVector = vectors[0]
    if keyVector.form != .dense {
      let found = keyVector.integers
      for row in found.indices { keys.append(UInt64(bitPattern: found[row])) }
    }
    var assembly = RowAssembly(layout: schema.rowLayout, count: block.rowCount)
    return unsafe assembly.run(vectors, from: Self.margin, into: &bytes, &starts)
  }
}

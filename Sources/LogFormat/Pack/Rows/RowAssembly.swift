import RowFormat

/// Assembles rows from the columns of a block, column by column: the loops over values are short, and the rows are close enough
/// to each other to stay in the processor's cache.
///
/// The result is byte for byte the output of a ``RowWriter`` for the same values.
struct RowAssembly {
  let layout: RowLayout
  /// The indices of the rows in the block.
  let rows: Range<Int>
  /// The end of each row's values of variable width so far.
  private var ends: [Int] = []

  /// - Parameters:
  ///   - layout: The layout of the rows.
  ///   - rows: The indices in the block of the rows to be assembled.
  init(layout: RowLayout, rows: Range<Int>) {
    self.layout = layout
    self.rows = rows
  }

  private var count: Int { rows.count }
  private var first: Int { rows.lowerBound }

  /// Appends the rows.
  ///
  /// - Parameters:
  ///   - vectors: The keys, then the columns.
  ///   - margin: The number of zeros before the first row.
  ///   - buffer: Emptied, and filled with the rows.
  ///   - starts: Emptied, and filled with the offset at which each row begins, and the end of the last.
  /// - Returns: `false` if there are more bytes than a block may have: one value of a dictionary, which is in the pack only
  ///   once, may be claimed by every row.
  mutating func run(
    _ vectors: [ColumnVector],
    from margin: Int,
    into buffer: inout ByteBuffer,
    _ starts: inout [Int]
  ) -> Bool {
    measure(vectors, from: margin, &starts)
    buffer.removeAll()
    guard count == 1 || starts[count] - margin <= PackFormat.blockByteLimit else {
      starts.removeAll()
      return false
    }
    buffer.appendZeros(starts[count])
    for column in layout.types.indices {
      let vector = vectors[column + 1]
      if vector.nullCount > 0 { storeNulls(column, vector, starts, &buffer) }
      if vector.form == .absent && !layout.types[column].isVariable { continue }
      switch vector.form {
      case .integers: store(vector.integers, of: vector, column, starts, &buffer)
      case .doubles: storeDoubles(column, vector, starts, &buffer)
      case .bits: storeBits(column, vector, starts, &buffer)
      case .identifiers: storeIdentifiers(column, vector, starts, &buffer)
      case .codes, .bytes, .absent: storeBytes(column, vector, starts, &buffer)
      case .dense: break
      }
    }
    return true
  }

  private static func isWide(_ dataByteCount: Int) -> Bool { dataByteCount > Int(UInt16.max) }

  /// Computes the offset at which each row begins.
  private mutating func measure(_ vectors: [ColumnVector], from margin: Int, _ starts: inout [Int])
  {
    var sizes = [Int](repeating: 0, count: count)
    for column in layout.types.indices where layout.types[column].isVariable {
      addSizes(of: vectors[column + 1], to: &sizes)
    }
    starts.removeAll(keepingCapacity: true)
    starts.reserveCapacity(count + 1)
    var end = margin
    for size in sizes {
      starts.append(end)
      end += layout.byteCount(ofData: size)
    }
    starts.append(end)
    ends = [Int](repeating: 0, count: count)
  }

  private func addSizes(of vector: ColumnVector, to sizes: inout [Int]) {
    switch vector.form {
    case .bytes where vector.nullCount == 0:
      let bounds = vector.bounds
      for place in sizes.indices {
        sizes[place] &+= Int(bounds[first &+ place &+ 1] &- bounds[first &+ place])
      }
    case .codes where vector.nullCount == 0:
      guard let dictionary = vector.dictionary else { return }
      let codes = vector.codes
      for place in sizes.indices {
        sizes[place] &+= dictionary.byteCount(of: Int(codes[first &+ place]))
      }
    default:
      for row in rows where !vector.isNull(row) {
        sizes[row - first] += vector.bytes(at: row).byteCount
      }
    }
  }

  private func storeNulls(
    _ column: Int,
    _ vector: ColumnVector,
    _ starts: [Int],
    _ buffer: inout ByteBuffer
  ) {
    let bit = 1 << UInt8(column & 7) as UInt8
    for row in rows where vector.isNull(row) {
      let at = starts[row &- first] + 1 + column >> 3
      buffer.store(buffer.load(UInt8.self, at: at) | bit, at: at)
    }
  }

  private func store(
    _ values: Span<Int64>,
    of vector: ColumnVector,
    _ column: Int,
    _ starts: [Int],
    _ buffer: inout ByteBuffer
  ) {
    let offset = layout.offset(of: column)
    let hasNulls = vector.nullCount > 0
    for row in rows where !hasNulls || !vector.isNull(row) {
      buffer.store(values[row], at: starts[row &- first] &+ offset)
    }
  }

  private func storeDoubles(
    _ column: Int,
    _ vector: ColumnVector,
    _ starts: [Int],
    _ buffer: inout ByteBuffer
  ) {
    let values = vector.doubles
    let offset = layout.offset(of: column)
    let hasNulls = vector.nullCount > 0
    for row in rows where !hasNulls || !vector.isNull(row) {
      buffer.store(values[row].bitPattern, at: starts[row &- first] &+ offset)
    }
  }

  private func storeBits(
    _ column: Int,
    _ vector: ColumnVector,
    _ starts: [Int],
    _ buffer: inout ByteBuffer
  ) {
    let words = vector.bits
    let offset = layout.offset(of: column)
    for row in rows where !vector.isNull(row) {
      let bit = UInt8(truncatingIfNeeded: words[row >> 6] >> UInt64(row & 63) & 1)
      buffer.store(bit, at: starts[row &- first] &+ offset)
    }
  }

  private func storeIdentifiers(
    _ column: Int,
    _ vector: ColumnVector,
    _ starts: [Int],
    _ buffer: inout ByteBuffer
  ) {
    let words = vector.identifiers
    let offset = layout.offset(of: column)
    for row in rows where !vector.isNull(row) {
      buffer.store(words[row &* 2], at: starts[row &- first] &+ offset)
      buffer.store(words[row &* 2 &+ 1], at: starts[row &- first] &+ offset &+ 8)
    }
  }

  /// Stores the values of a column of variable width.
  private mutating func storeBytes(
    _ column: Int,
    _ vector: ColumnVector,
    _ starts: [Int],
    _ buffer: inout ByteBuffer
  ) {
    let ordinal = layout.variableOrdinal(of: column)
    switch vector.form {
    case .bytes where vector.nullCount == 0:
      let bounds = vector.bounds
      let memory = vector.valueBytes
      for row in rows {
        let range = Int(bounds[row])..<Int(bounds[row &+ 1])
        append(memory.extracting(range), ordinal, to: row, starts, &buffer)
      }
    case .codes where vector.nullCount == 0:
      guard let dictionary = vector.dictionary else { return }
      let codes = vector.codes
      for row in rows {
        append(dictionary.value(Int(codes[row])), ordinal, to: row, starts, &buffer)
      }
    default:
      for row in rows {
        if vector.form == .absent || vector.isNull(row) {
          append(RawSpan(), ordinal, to: row, starts, &buffer)
        } else {
          append(vector.bytes(at: row), ordinal, to: row, starts, &buffer)
        }
      }
    }
  }

  /// Stores a value of variable width behind those of the row's earlier columns, and its end.
  @inline(__always)
  private mutating func append(
    _ value: RawSpan,
    _ ordinal: Int,
    to row: Int,
    _ starts: [Int],
    _ buffer: inout ByteBuffer
  ) {
    let place = row &- first
    let start = starts[place]
    let endsStart = start &+ layout.endsOffset
    // With ends of four bytes there would be more bytes than with two.
    let isWide = Self.isWide(starts[place &+ 1] &- endsStart &- layout.variableCount &* 2)
    let width = isWide ? 4 : 2
    let end = ends[place]
    buffer.overwrite(value, at: endsStart &+ layout.variableCount &* width &+ end)
    ends[place] = end &+ value.byteCount
    let at = endsStart &+ ordinal &* width
    if isWide {
      buffer.store(UInt32(truncatingIfNeeded: ends[place]), at: at)
      if ordinal == 0 { buffer.store(1 as UInt8, at: start) }
    } else {
      buffer.store(UInt16(truncatingIfNeeded: ends[place]), at: at)
    }
  }
}

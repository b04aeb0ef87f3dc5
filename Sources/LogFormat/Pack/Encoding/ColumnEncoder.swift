import RowFormat

/// Encodes one column of a block's rows as a chunk.
struct ColumnEncoder: ~Copyable {
  /// The last chunk encoded, uncompressed.
  private(set) var chunk = ByteBuffer(capacity: 64 << 10)
  private var integers: [Int64] = []
  private var ranges: [Range<Int>] = []
  private var codes: [UInt16] = []

  /// The properties of an encoded chunk.
  struct Result {
    var encoding: ColumnEncoding
    var hasNulls = false
    var zone = ZoneMap()
  }

  /// Encodes the chunk of the keys.
  mutating func encodeKeys(of rows: borrowing BlockRows) -> Result {
    chunk.removeAll()
    let keys = rows.keys
    if keys[keys.count - 1] - keys[0] == keys.count - 1 { return Result(encoding: .dense) }
    IntegerCoding.encode(keys, into: &chunk)
    return Result(encoding: .integers)
  }

  /// Encodes the chunk of a column.
  ///
  /// - Parameters:
  ///   - column: The column's position in the layout.
  ///   - rows: At least one row; all are valid in the layout.
  ///   - layout: The rows' layout.
  ///   - dictionary: The column's dictionary, if it may have one.
  /// - Returns: The properties of the chunk.
  mutating func encode(
    _ column: Int,
    of rows: borrowing BlockRows,
    _ layout: RowLayout,
    _ dictionary: DictionaryBuilder?
  ) -> Result {
    chunk.removeAll()
    let nullCount = appendNulls(column, rows)
    if nullCount == rows.count {
      chunk.removeAll()
      return Result(encoding: .absent, zone: ZoneMap(flags: ZoneMap.hasNulls))
    }
    if nullCount == 0 { chunk.removeAll() }
    let type = layout.types[column]
    var result =
      switch type {
      case .integer, .reference: encodeIntegers(layout.offset(of: column), rows, column, nullCount)
      case .double, .date: encodeDoubles(layout.offset(of: column), rows, column, nullCount)
      case .bool: encodeBools(layout.offset(of: column), rows, nullCount)
      case .uuid: encodeIdentifiers(layout.offset(of: column), rows, column, nullCount)
      case .text, .bytes, .references, .structured, .blob:
        encodeVariable(column, rows, layout, dictionary, nullCount)
      }
    result.hasNulls = nullCount > 0
    return result
  }

  /// Appends the bitmap of null rows.
  private mutating func appendNulls(_ column: Int, _ rows: borrowing BlockRows) -> Int {
    let bytes = rows.bytes.bytes
    let offset = 1 + column >> 3
    let shift = UInt8(column & 7)
    var nullCount = 0
    var bits: UInt8 = 0
    for index in 0..<rows.count {
      let isNull = bytes.load(UInt8.self, at: rows.starts[index] + offset) >> shift & 1
      bits |= isNull << UInt8(index & 7)
      nullCount += Int(isNull)
      if index & 7 == 7 || index == rows.count - 1 {
        chunk.append(bits)
        bits = 0
      }
    }
    return nullCount
  }
}

// MARK: Fixed width

extension ColumnEncoder {
  private mutating func encodeIntegers(
    _ offset: Int,
    _ rows: borrowing BlockRows,
    _ column: Int,
    _ nullCount: Int
  ) -> Result {
    gather(offset, rows, column, nullCount)
    IntegerCoding.encode(integers, into: &chunk)
    let zone = ZoneMap(integers: integers, nullCount: nullCount)
    return Result(encoding: .integers, zone: zone)
  }

  private mutating func encodeDoubles(
    _ offset: Int,
    _ rows: borrowing BlockRows,
    _ column: Int,
    _ nullCount: Int
  ) -> Result {
    gather(offset, rows, column, nullCount)
    let zone = ZoneMap(doublePatterns: integers, nullCount: nullCount)
    if let exponent = DecimalCoding.scale(&integers) {
      chunk.append(UInt8(exponent))
      IntegerCoding.encode(integers, into: &chunk)
      return Result(encoding: .decimals, zone: zone)
    }
    for value in integers { chunk.append(value) }
    return Result(encoding: .plain, zone: zone)
  }

  /// Collects eight-byte values; a null row gets its neighbour's, which costs least and does not change the bounds.
  private mutating func gather(
    _ offset: Int,
    _ rows: borrowing BlockRows,
    _ column: Int,
    _ nullCount: Int
  ) {
    integers.removeAll(keepingCapacity: true)
    let bytes = rows.bytes.bytes
    for index in 0..<rows.count {
      integers.append(bytes.load(Int64.self, at: rows.starts[index] &+ offset))
    }
    if nullCount > 0 { fillNulls(rows, column) }
  }

  private mutating func fillNulls(_ rows: borrowing BlockRows, _ column: Int) {
    var last: Int64?
    for index in 0..<rows.count {
      if !isNull(column, rows, index) {
        if last == nil { for before in 0..<index { integers[before] = integers[index] } }
        last = integers[index]
      } else if let last {
        integers[index] = last
      }
    }
  }

  @inline(__always)
  private func isNull(_ column: Int, _ rows: borrowing BlockRows, _ index: Int) -> Bool {
    let byte = rows.bytes.bytes.load(UInt8.self, at: rows.starts[index] &+ 1 &+ column >> 3)
    return byte >> UInt8(column & 7) & 1 == 1
  }

  private mutating func encodeBools(
    _ offset: Int,
    _ rows: borrowing BlockRows,
    _ nullCount: Int
  ) -> Result {
    let bytes = rows.bytes.bytes
    integers.removeAll(keepingCapacity: true)
    for index in 0..<rows.count {
      // For a null row this is false: its byte is zero.
      let isTrue = bytes.load(UInt8.self, at: rows.starts[index] &+ offset) != 0
      integers.append(isTrue ? 1 : 0)
    }
    let values = integers
    BitPacking.pack(values.count, width: 1, into: &chunk) { UInt64(truncatingIfNeeded: values[$0]) }
    return Result(encoding: .bits, zone: ZoneMap(integers: values, nullCount: nullCount))
  }

  private mutating func encodeIdentifiers(
    _ offset: Int,
    _ rows: borrowing BlockRows,
    _ column: Int,
    _ nullCount: Int
  ) -> Result {
    var zone = ZoneMap(flags: ZoneMap.flags(count: rows.count, nullCount: nullCount), low: .max)
    for index in 0..<rows.count {
      let start = rows.starts[index] + offset
      let value = rows.bytes.bytes.extracting(start..<(start + 16))
      chunk.append(value)
      if nullCount > 0, isNull(column, rows, index) { continue }
      let prefix = ZoneMap.prefix(of: value)
      zone.low = min(zone.low, prefix)
      zone.high = max(zone.high, prefix)
    }
    return Result(encoding: .plain, zone: zone)
  }
}

// MARK: Variable width

extension ColumnEncoder {
  private mutating func encodeVariable(
    _ column: Int,
    _ rows: borrowing BlockRows,
    _ layout: RowLayout,
    _ dictionary: DictionaryBuilder?,
    _ nullCount: Int
  ) -> Result {
    ranges.removeAll(keepingCapacity: true)
    for index in 0..<rows.count {
      let start = rows.starts[index]
      let range = layout.range(column, in: rows.row(index))
      ranges.append((start + range.lowerBound)..<(start + range.upperBound))
    }
    let bytes = rows.bytes.bytes
    let zone = bounds(column, rows, layout.types[column], nullCount)
    codes.removeAll(keepingCapacity: true)
    if let dictionary, dictionary.number(bytes, ranges, into: &codes) {
      let codes = codes
      let width = BitPacking.width(of: UInt64(max(dictionary.count - 1, 0)))
      chunk.append(UInt8(width))
      BitPacking.pack(codes.count, width: width, into: &chunk) { UInt64(codes[$0]) }
      return Result(encoding: .dictionary, zone: zone)
    }
    integers.removeAll(keepingCapacity: true)
    for range in ranges { integers.append(Int64(range.count)) }
    IntegerCoding.encode(integers, into: &chunk)
    for range in ranges { chunk.append(bytes.extracting(range)) }
    return Result(encoding: .plain, zone: zone)
  }

  private func bounds(
    _ column: Int,
    _ rows: borrowing BlockRows,
    _ type: ColumnType,
    _ nullCount: Int
  ) -> ZoneMap {
    var zone = ZoneMap(flags: ZoneMap.flags(count: rows.count, nullCount: nullCount))
    guard ZoneMap.order(of: type) == .prefix else { return zone }
    zone.low = .max
    let bytes = rows.bytes.bytes
    for index in 0..<rows.count {
      if nullCount > 0, isNull(column, rows, index) { continue }
      let prefix = ZoneMap.prefix(of: bytes.extracting(ranges[index]))
      zone.low = min(zone.low, prefix)
      zone.high = max(zone.high, prefix)
    }
    return zone
  }
}

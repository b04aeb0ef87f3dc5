import RowFormat

/// Decoding a chunk into values. The bytes come from a file: every step returns whether they are valid.
extension ColumnContents {
  /// The known properties of the chunk.
  package struct Source {
    package var type: ColumnType
    var encoding: ColumnEncoding
    var hasNulls: Bool
    package var rowCount: Int
    package var dictionary: PackDictionary?
    /// The rows whose values are wanted: where it is less work, those of others are not decoded.
    package var wanted: Range<Int>

    package init(
      type: ColumnType,
      encoding: ColumnEncoding,
      hasNulls: Bool,
      rowCount: Int,
      dictionary: PackDictionary? = nil,
      wanted: Range<Int>? = nil
    ) {
      self.type = type
      self.encoding = encoding
      self.hasNulls = hasNulls
      self.rowCount = rowCount
      self.dictionary = dictionary
      self.wanted = wanted ?? 0..<rowCount
    }
  }

  /// Returns the limit of an uncompressed chunk, in bytes.
  ///
  /// The stored bytes may claim any number, and that much memory is allocated.
  static func byteLimit(_ source: Source) -> Int {
    let nulls = source.hasNulls ? (source.rowCount + 7) / 8 : 0
    let count = source.rowCount
    return switch source.encoding {
    case .absent, .dense: 0
    case .integers: nulls + IntegerCoding.byteLimit(count)
    case .decimals: nulls + 1 + IntegerCoding.byteLimit(count)
    case .bits: nulls + (count + 7) / 8
    case .dictionary: nulls + 1 + count * 2
    case .plain where source.type.isVariable:
      nulls + IntegerCoding.byteLimit(count)
        + (count == 1 ? RecordHeader.bodyLimit : PackFormat.blockByteLimit)
    case .plain: nulls + count * source.type.fixedWidth
    }
  }

  /// Whether a chunk is kept as it is, with bounds of the values in it.
  static func keepsChunk(_ source: Source) -> Bool {
    source.encoding == .plain && source.type.isVariable
  }

  /// Decodes an uncompressed chunk.
  ///
  /// - Returns: `false` if the bytes are not such a chunk; the contents must not be used then.
  mutating func decode(_ chunk: RawSpan, _ source: Source) -> Bool {
    values.removeAll()
    begin(source)
    var cursor = ByteCursor(0..<chunk.byteCount)
    guard decodeNulls(chunk, &cursor, source) else { return false }
    switch (source.encoding, source.type) {
    case (.dense, .integer):
      form = .dense
      return !source.hasNulls && chunk.byteCount == 0
    case (.absent, _): return !source.hasNulls && decodeAbsent(chunk)
    case (.integers, .integer), (.integers, .reference):
      form = .integers
      return decodeIntegers(chunk, &cursor, source.wanted) && cursor.remaining == 0
    case (.decimals, .double), (.decimals, .date):
      return decodeDecimals(chunk, &cursor, source.wanted)
    case (.plain, .double), (.plain, .date): return copy(chunk, &cursor, width: 8, as: .doubles)
    case (.plain, .uuid): return copy(chunk, &cursor, width: 16, as: .identifiers)
    case (.bits, .bool):
      form = .bits
      return ColumnContents.copyBits(chunk, &cursor, count, into: &values) && cursor.remaining == 0
    case (.dictionary, let type) where type.isVariable:
      return decodeCodes(chunk, &cursor, source.dictionary, source.wanted)
    default: return false
    }
  }

  /// Decodes a chunk that is kept as it is: finds the bounds of its values.
  mutating func decode(keeping chunk: consuming ByteBuffer, _ source: Source) -> Bool {
    begin(source)
    var cursor = ByteCursor(0..<chunk.count)
    guard decodeNulls(chunk.bytes, &cursor, source) else { return false }
    let unit: Int64 = source.type == .references ? 8 : 1
    guard
      let found = VariableChunk.bounds(
        in: chunk.bytes,
        from: cursor.offset,
        count: count,
        multipleOf: unit
      )
    else { return false }
    for bound in found { bounds.append(bound) }
    values = chunk
    form = .bytes
    return true
  }

  private mutating func begin(_ source: Source) {
    bounds.removeAll()
    nulls.removeAll()
    dictionary = nil
    count = source.rowCount
    nullCount = 0
  }
}

// MARK: Parts

extension ColumnContents {
  private mutating func decodeNulls(
    _ chunk: RawSpan,
    _ cursor: inout ByteCursor,
    _ source: Source
  ) -> Bool {
    guard source.hasNulls else { return true }
    guard ColumnContents.copyBits(chunk, &cursor, count, into: &nulls) else { return false }
    for offset in stride(from: 0, to: nulls.count, by: 8) {
      nullCount += nulls.load(UInt64.self, at: offset).nonzeroBitCount
    }
    return true
  }

  /// Copies a bitmap and pads it to words; bits beyond the last row must be zero.
  private static func copyBits(
    _ chunk: RawSpan,
    _ cursor: inout ByteCursor,
    _ count: Int,
    into words: inout ByteBuffer
  ) -> Bool {
    guard let range = cursor.take((count + 7) / 8) else { return false }
    words.append(chunk.extracting(range))
    words.appendZeros(-words.count & 7)
    let excess = words.count * 8 - count
    guard excess > 0 else { return true }
    return words.load(UInt64.self, at: words.count - 8) >> UInt64(64 - excess) == 0
  }

  private mutating func decodeAbsent(_ chunk: RawSpan) -> Bool {
    form = .absent
    nullCount = count
    return chunk.byteCount == 0
  }

  private mutating func decodeIntegers(
    _ chunk: RawSpan,
    _ cursor: inout ByteCursor,
    _ wanted: Range<Int>
  ) -> Bool {
    var isValid = false
    let count = count
    values.append(upTo: count * 8) { room in
      unsafe room.withUnsafeMutableBytes { bytes in
        let values = unsafe bytes.bindMemory(to: Int64.self)
        isValid = unsafe IntegerCoding.decode(chunk, &cursor, into: values, wanted)
      }
      return isValid ? count * 8 : 0
    }
    return isValid
  }

  private mutating func decodeDecimals(
    _ chunk: RawSpan,
    _ cursor: inout ByteCursor,
    _ wanted: Range<Int>
  ) -> Bool {
    guard let exponent = cursor.integer(UInt8.self, in: chunk),
      Int(exponent) < DecimalCoding.powers.count, decodeIntegers(chunk, &cursor, wanted)
    else { return false }
    form = .doubles
    values.turnIntegersIntoDoubles(wanted, dividedBy: DecimalCoding.powers[Int(exponent)])
    return cursor.remaining == 0
  }

  private mutating func copy(
    _ chunk: RawSpan,
    _ cursor: inout ByteCursor,
    width: Int,
    as form: ColumnVector.Form
  ) -> Bool {
    self.form = form
    guard let range = cursor.take(count * width), cursor.remaining == 0 else { return false }
    values.append(chunk.extracting(range))
    return true
  }

  private mutating func decodeCodes(
    _ chunk: RawSpan,
    _ cursor: inout ByteCursor,
    _ dictionary: PackDictionary?,
    _ wanted: Range<Int>
  ) -> Bool {
    guard let dictionary, let width = cursor.integer(UInt8.self, in: chunk), width <= 16,
      let range = cursor.take(BitPacking.byteCount(count, width: Int(width))),
      cursor.remaining == 0
    else { return false }
    form = .codes
    self.dictionary = dictionary
    let packed = chunk.extracting(range)
    let count = count
    var greatest: UInt16 = 0
    values.append(upTo: count * 2) { room in
      unsafe room.withUnsafeMutableBytes { bytes in
        let codes = unsafe bytes.bindMemory(to: UInt16.self)
        BitPacking.unpack(packed, wanted, width: Int(width)) { index, number in
          unsafe codes[index] = UInt16(truncatingIfNeeded: number)
        }
        for index in wanted { greatest = max(greatest, unsafe codes[index]) }
      }
      return count * 2
    }
    return Int(greatest) < dictionary.count
  }
}

extension ByteBuffer {
  /// Replaces integers by doubles: each is divided by a power of ten.
  fileprivate mutating func turnIntegersIntoDoubles(
    _ indices: Range<Int>,
    dividedBy power: Double
  ) {
    for offset in stride(from: indices.lowerBound * 8, to: indices.upperBound * 8, by: 8) {
      let value = Double(load(Int64.self, at: offset)) / power
      store(value.bitPattern, at: offset)
    }
  }
}

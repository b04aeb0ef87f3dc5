import RowFormat

/// Cuts one row out of a block, column by column, without decoding the others.
///
/// Of an uncompressed chunk, only the bytes of the row's value are read; a chunk of LZ4 is decompressed up to them. The result
/// is byte for byte the output of ``RowAssembly`` for the same row.
struct RowCut: ~Copyable {
  /// The index of the row in the block.
  private let index: Int
  private let rowCount: Int
  /// The first bytes of a chunk that is compressed with LZ4.
  private var unpacked = ByteBuffer(capacity: 64)

  /// Prepares to cut out a row.
  ///
  /// - Parameters:
  ///   - index: The index of the row in the block.
  ///   - rowCount: The number of rows in the block.
  init(_ index: Int, of rowCount: Int) {
    self.index = index
    self.rowCount = rowCount
  }

  /// Adds the next column.
  ///
  /// - Parameters:
  ///   - column: The column's number in the layout; columns come in ascending order.
  ///   - type: The column's type.
  ///   - entry: The entry of the column's chunk.
  ///   - dictionary: The dictionary of the column, if the chunk contains codes.
  ///   - stored: The chunk's bytes as in the file.
  ///   - writer: Writes the row.
  /// - Returns: `false` if the bytes are not such a chunk.
  /// - Throws: ``LZ4/Failure`` if the bytes are not LZ4.
  mutating func append(
    _ column: Int,
    _ type: ColumnType,
    _ entry: ChunkEntry,
    _ dictionary: PackDictionary?,
    _ stored: RawSpan,
    to writer: inout RowWriter
  ) throws(LZ4.Failure) -> Bool {
    unpacked.removeAll()
    let nullByteCount = entry.hasNulls ? (rowCount + 7) / 8 : 0
    if entry.encoding == .absent { return !entry.hasNulls && entry.rawByteCount == 0 }
    if entry.hasNulls {
      guard let bits = try byte(at: index >> 3, of: entry, stored) else { return false }
      if bits >> UInt8(index & 7) & 1 == 1 { return true }
    }
    switch (entry.encoding, type) {
    case (.integers, .integer), (.integers, .reference):
      guard let value = try integer(at: nullByteCount, of: entry, stored) else { return false }
      writer.set(column, integer: value)
    case (.decimals, .double), (.decimals, .date):
      guard let exponent = try byte(at: nullByteCount, of: entry, stored),
        Int(exponent) < DecimalCoding.powers.count,
        let value = try integer(at: nullByteCount + 1, of: entry, stored)
      else { return false }
      writer.set(column, double: Double(value) / DecimalCoding.powers[Int(exponent)])
    case (.plain, .double), (.plain, .date):
      guard let words = try words(1, at: nullByteCount, of: entry, stored) else { return false }
      writer.set(column, double: Double(bitPattern: words.0))
    case (.plain, .uuid):
      guard let words = try words(2, at: nullByteCount, of: entry, stored) else { return false }
      writer.set(column, uuid: words)
    case (.bits, .bool):
      guard entry.rawByteCount == nullByteCount + (rowCount + 7) / 8,
        let bits = try byte(at: nullByteCount + index >> 3, of: entry, stored)
      else { return false }
      writer.set(column, bool: bits >> UInt8(index & 7) & 1 == 1)
    case (.dictionary, let type) where type.isVariable:
      guard let dictionary,
        let code = try code(at: nullByteCount, of: entry, stored), code < dictionary.count
      else { return false }
      writer.append(column, bytes: dictionary.value(code))
    case (.plain, let type) where type.isVariable:
      let unit = type == .references ? 8 : 1
      guard let range = try range(at: nullByteCount, of: entry, stored, unit) else { return false }
      if entry.codec == .stored {
        writer.append(column, bytes: stored.extracting(range))
      } else {
        try unpack(upTo: range.upperBound, of: entry, stored)
        writer.append(column, bytes: unpacked.bytes.extracting(range))
      }
    default: return false
    }
    return true
  }
}

// MARK: Sizes

extension RowCut {
  /// Returns the size of the value of a column of variable width, in bytes.
  ///
  /// - Parameters:
  ///   - type: The type of the column.
  ///   - entry: The entry of the column's chunk.
  ///   - dictionary: The dictionary of the column, if the chunk contains codes.
  ///   - stored: The chunk's bytes as in the file.
  /// - Returns: The size of the value, 0 if it is null; `nil` if the bytes are not such a chunk.
  /// - Throws: ``LZ4/Failure`` if the bytes are not LZ4.
  mutating func byteCount(
    _ type: ColumnType,
    _ entry: ChunkEntry,
    _ dictionary: PackDictionary?,
    _ stored: RawSpan
  ) throws(LZ4.Failure) -> Int? {
    unpacked.removeAll()
    let nullByteCount = entry.hasNulls ? (rowCount + 7) / 8 : 0
    if entry.encoding == .absent {
      return !entry.hasNulls && entry.rawByteCount == 0 ? 0 : nil
    }
    if entry.hasNulls {
      guard let bits = try byte(at: index >> 3, of: entry, stored) else { return nil }
      if bits >> UInt8(index & 7) & 1 == 1 { return 0 }
    }
    switch entry.encoding {
    case .dictionary:
      guard let dictionary,
        let code = try code(at: nullByteCount, of: entry, stored), code < dictionary.count
      else { return nil }
      return dictionary.byteCount(of: code)
    case .plain:
      return try range(at: nullByteCount, of: entry, stored, type == .references ? 8 : 1)?.count
    default: return nil
    }
  }
}

// MARK: The key

extension RowCut {
  /// Returns the key of the row.
  ///
  /// - Parameters:
  ///   - block: The block.
  ///   - entry: The entry of the keys' chunk.
  ///   - stored: The chunk's bytes as in the file.
  /// - Returns: The key; `nil` if the bytes are not keys.
  /// - Throws: ``LZ4/Failure`` if the bytes are not LZ4.
  mutating func key(
    of block: BlockEntry,
    _ entry: ChunkEntry,
    _ stored: RawSpan
  ) throws(LZ4.Failure) -> UInt64? {
    if entry.encoding == .dense {
      let isDense = block.lastKey - block.firstKey == UInt64(block.rowCount - 1)
      return isDense ? block.firstKey + UInt64(index) : nil
    }
    guard entry.encoding == .integers, !entry.hasNulls else { return nil }
    unpacked.removeAll()
    return try integer(at: 0, of: entry, stored).map(UInt64.init(bitPattern:))
  }
}

// MARK: Values

extension RowCut {
  private mutating func integer(
    at offset: Int,
    of entry: ChunkEntry,
    _ stored: RawSpan
  ) throws(LZ4.Failure) -> Int64? {
    if entry.codec == .stored {
      return IntegerList(stored, at: offset, count: rowCount)
        .flatMap { $0.end == entry.rawByteCount ? $0.value(at: index, in: stored) : nil }
    }
    try unpack(upTo: offset + IntegerList.headLimit, of: entry, stored)
    guard let list = IntegerList(unpacked.bytes, at: offset, count: rowCount),
      list.end == entry.rawByteCount
    else { return nil }
    try unpack(upTo: list.end(ofFirst: index + 1), of: entry, stored)
    return list.value(at: index, in: unpacked.bytes)
  }

  /// Returns the range of a value of variable width in the uncompressed bytes.
  private mutating func range(
    at offset: Int,
    of entry: ChunkEntry,
    _ stored: RawSpan,
    _ unit: Int
  ) throws(LZ4.Failure) -> Range<Int>? {
    let list: IntegerList
    let lengths: (sum: Int, last: Int)?
    let limit = entry.rawByteCount
    if entry.codec == .stored {
      guard let found = IntegerList(stored, at: offset, count: rowCount), found.end <= limit
      else { return nil }
      list = found
      lengths = list.lengths(upTo: index, in: stored, limit: limit)
    } else {
      // Mostly this is all that is needed: lengths of two bytes at most.
      let guess = offset + IntegerList.headLimit + (index + 1) * 2
      try unpack(upTo: guess, of: entry, stored)
      guard let found = IntegerList(unpacked.bytes, at: offset, count: rowCount),
        found.end <= limit
      else { return nil }
      list = found
      try unpack(upTo: list.end(ofFirst: index + 1), of: entry, stored)
      lengths = list.lengths(upTo: index, in: unpacked.bytes, limit: limit)
    }
    guard let lengths, lengths.last % unit == 0, lengths.sum <= limit - list.end,
      lengths.last <= limit - list.end - lengths.sum
    else { return nil }
    let start = list.end + lengths.sum
    return start..<(start + lengths.last)
  }

  private mutating func code(
    at offset: Int,
    of entry: ChunkEntry,
    _ stored: RawSpan
  ) throws(LZ4.Failure) -> Int? {
    if entry.codec == .lz4, entry.rawByteCount > offset {
      // The numbers have one width, so the chunk's size tells how many bytes the first ones take.
      let share = (entry.rawByteCount - offset) * (index + 1) / rowCount
      try unpack(upTo: offset + 1 + share, of: entry, stored)
    }
    guard let width = try byte(at: offset, of: entry, stored), width <= 16 else { return nil }
    let end = offset + 1 + BitPacking.byteCount(rowCount, width: Int(width))
    guard end == entry.rawByteCount else { return nil }
    if entry.codec == .stored {
      let numbers = stored.extracting((offset + 1)..<end)
      return Int(BitPacking.number(at: index, in: numbers, width: Int(width)))
    }
    let needed = offset + 1 + BitPacking.byteCount(index + 1, width: Int(width))
    try unpack(upTo: needed, of: entry, stored)
    let numbers = unpacked.bytes.extracting((offset + 1)..<unpacked.count)
    return Int(BitPacking.number(at: index, in: numbers, width: Int(width)))
  }

  /// Returns the one or two words of a value of fixed width.
  private mutating func words(
    _ count: Int,
    at offset: Int,
    of entry: ChunkEntry,
    _ stored: RawSpan
  ) throws(LZ4.Failure) -> (UInt64, UInt64)? {
    guard entry.rawByteCount == offset + rowCount * count * 8 else { return nil }
    let start = offset + index * count * 8
    func load(_ bytes: RawSpan) -> (UInt64, UInt64) {
      (
        bytes.load(UInt64.self, at: start),
        count == 2 ? bytes.load(UInt64.self, at: start + 8) : 0
      )
    }
    if entry.codec == .stored { return load(stored) }
    try unpack(upTo: start + count * 8, of: entry, stored)
    return load(unpacked.bytes)
  }

  private mutating func byte(
    at offset: Int,
    of entry: ChunkEntry,
    _ stored: RawSpan
  ) throws(LZ4.Failure) -> UInt8? {
    guard offset < entry.rawByteCount else { return nil }
    if entry.codec == .stored { return stored.load(UInt8.self, at: offset) }
    try unpack(upTo: offset + 1, of: entry, stored)
    return unpacked.bytes.load(UInt8.self, at: offset)
  }

  /// Decompresses the first bytes of a chunk of LZ4, or all of them if there are no more.
  private mutating func unpack(
    upTo end: Int,
    of entry: ChunkEntry,
    _ stored: RawSpan
  ) throws(LZ4.Failure) {
    let needed = min(end, entry.rawByteCount)
    if needed <= unpacked.count { return }
    unpacked.removeAll()
    // A value is read in steps: a few more bytes save the next call.
    try LZ4.decompressPrefix(stored, count: min(entry.rawByteCount, needed + 64), into: &unpacked)
  }
}

import RowFormat

/// Cuts one row out of a block, column by column, without decoding the others.
///
/// Of an uncompressed chunk, only the bytes of the row's value are read; a chunk of LZ4 is decompressed up to them, or up to
/// those of the last row that is wanted of the block. The result is byte for byte the output of ``RowAssembly`` for the same row.
struct RowCut {
  /// The index of the row in the block.
  private let index: Int
  /// The index of the last row that is wanted of the block.
  private let lastIndex: Int
  private let rowCount: Int

  /// Prepares to cut out a row.
  ///
  /// - Parameters:
  ///   - index: The index of the row in the block.
  ///   - lastIndex: The index of the last row that is wanted of the block.
  ///   - rowCount: The number of rows in the block.
  init(_ index: Int, upTo lastIndex: Int, of rowCount: Int) {
    self.index = index
    self.lastIndex = min(max(index, lastIndex), rowCount - 1)
    self.rowCount = rowCount
  }

  /// Adds the next column.
  ///
  /// - Parameters:
  ///   - column: The column's number in the layout; columns come in ascending order.
  ///   - type: The column's type.
  ///   - chunk: The column's chunk.
  ///   - stored: The chunk's bytes as in the file.
  ///   - writer: Writes the row.
  /// - Returns: `false` if the bytes are not such a chunk.
  /// - Throws: ``LZ4/Failure`` if the bytes are not LZ4.
  func append(
    _ column: Int,
    _ type: ColumnType,
    _ chunk: CutChunk,
    _ stored: RawSpan,
    to writer: inout RowWriter
  ) throws(LZ4.Failure) -> Bool {
    let entry = chunk.entry
    let nullByteCount = entry.hasNulls ? (rowCount + 7) / 8 : 0
    if entry.encoding == .absent { return !entry.hasNulls && entry.rawByteCount == 0 }
    if entry.hasNulls {
      guard let bits = try byte(at: index >> 3, of: chunk, stored) else { return false }
      if bits >> UInt8(index & 7) & 1 == 1 { return true }
    }
    switch (entry.encoding, type) {
    case (.integers, .integer), (.integers, .reference):
      guard let value = try integer(at: nullByteCount, of: chunk, stored) else { return false }
      writer.set(column, integer: value)
    case (.decimals, .double), (.decimals, .date):
      guard let exponent = try byte(at: nullByteCount, of: chunk, stored),
        Int(exponent) < DecimalCoding.powers.count,
        let value = try integer(at: nullByteCount + 1, of: chunk, stored)
      else { return false }
      writer.set(column, double: Double(value) / DecimalCoding.powers[Int(exponent)])
    case (.plain, .double), (.plain, .date):
      guard let words = try words(1, at: nullByteCount, of: chunk, stored) else { return false }
      writer.set(column, double: Double(bitPattern: words.0))
    case (.plain, .uuid):
      guard let words = try words(2, at: nullByteCount, of: chunk, stored) else { return false }
      writer.set(column, uuid: words)
    case (.bits, .bool):
      guard entry.rawByteCount == nullByteCount + (rowCount + 7) / 8,
        let bits = try byte(at: nullByteCount + index >> 3, of: chunk, stored)
      else { return false }
      writer.set(column, bool: bits >> UInt8(index & 7) & 1 == 1)
    case (.dictionary, let type) where type.isVariable:
      guard let dictionary = chunk.dictionary,
        let code = try code(at: nullByteCount, of: chunk, stored), code < dictionary.count
      else { return false }
      writer.append(column, bytes: dictionary.value(code))
    case (.plain, let type) where type.isVariable:
      let unit = type == .references ? 8 : 1
      guard let range = try range(at: nullByteCount, of: chunk, stored, unit) else { return false }
      if entry.codec == .stored {
        writer.append(column, bytes: stored.extracting(range))
      } else {
        try chunk.unpack(upTo: range.upperBound, stored)
        writer.append(column, bytes: chunk.unpackedBytes.extracting(range))
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
  ///   - chunk: The column's chunk.
  ///   - stored: The chunk's bytes as in the file.
  /// - Returns: The size of the value, 0 if it is null; `nil` if the bytes are not such a chunk.
  /// - Throws: ``LZ4/Failure`` if the bytes are not LZ4.
  func byteCount(
    _ type: ColumnType,
    _ chunk: CutChunk,
    _ stored: RawSpan
  ) throws(LZ4.Failure) -> Int? {
    let entry = chunk.entry
    let nullByteCount = entry.hasNulls ? (rowCount + 7) / 8 : 0
    if entry.encoding == .absent {
      return !entry.hasNulls && entry.rawByteCount == 0 ? 0 : nil
    }
    if entry.hasNulls {
      guard let bits = try byte(at: index >> 3, of: chunk, stored) else { return nil }
      if bits >> UInt8(index & 7) & 1 == 1 { return 0 }
    }
    switch entry.encoding {
    case .dictionary:
      guard let dictionary = chunk.dictionary,
        let code = try code(at: nullByteCount, of: chunk, stored), code < dictionary.count
      else { return nil }
      return dictionary.byteCount(of: code)
    case .plain:
      return try range(at: nullByteCount, of: chunk, stored, type == .references ? 8 : 1)?.count
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
  ///   - chunk: The keys' chunk.
  ///   - stored: The chunk's bytes as in the file.
  /// - Returns: The key; `nil` if the bytes are not keys.
  /// - Throws: ``LZ4/Failure`` if the bytes are not LZ4.
  func key(
    of block: BlockEntry,
    _ chunk: CutChunk,
    _ stored: RawSpan
  ) throws(LZ4.Failure) -> UInt64? {
    let entry = chunk.entry
    if entry.encoding == .dense {
      let isDense = block.lastKey - block.firstKey == UInt64(block.rowCount - 1)
      return isDense ? block.firstKey + UInt64(index) : nil
    }
    guard entry.encoding == .integers, !entry.hasNulls else { return nil }
    return try integer(at: 0, of: chunk, stored).map(UInt64.init(bitPattern:))
  }
}

// MARK: Values

extension RowCut {
  private func integer(
    at offset: Int,
    of chunk: CutChunk,
    _ stored: RawSpan
  ) throws(LZ4.Failure) -> Int64? {
    let size = chunk.entry.rawByteCount
    if chunk.entry.codec == .stored {
      return IntegerList(stored, at: offset, count: rowCount)
        .flatMap { $0.end == size ? $0.value(at: index, in: stored) : nil }
    }
    try chunk.unpack(upTo: offset + IntegerList.headLimit, stored)
    guard let list = IntegerList(chunk.unpackedBytes, at: offset, count: rowCount),
      list.end == size
    else { return nil }
    try chunk.unpack(upTo: list.end(ofFirst: lastIndex + 1), stored)
    return list.value(at: index, in: chunk.unpackedBytes)
  }

  /// Returns the range of a value of variable width in the uncompressed bytes.
  private func range(
    at offset: Int,
    of chunk: CutChunk,
    _ stored: RawSpan,
    _ unit: Int
  ) throws(LZ4.Failure) -> Range<Int>? {
    let limit = chunk.entry.rawByteCount
    if chunk.entry.codec == .stored {
      return range(of: index, at: offset, in: stored, limit, unit)
    }
    // Mostly this is all that is needed: lengths of two bytes at most.
    let guess = offset + IntegerList.headLimit + (lastIndex + 1) * 2
    try chunk.unpack(upTo: guess, stored)
    guard let list = IntegerList(chunk.unpackedBytes, at: offset, count: rowCount) else {
      return nil
    }
    try chunk.unpack(upTo: list.end(ofFirst: lastIndex + 1), stored)
    // The values of all rows that are wanted are decompressed together.
    if lastIndex > index,
      let last = range(of: lastIndex, at: offset, in: chunk.unpackedBytes, limit, unit)
    {
      try chunk.unpack(upTo: last.upperBound, stored)
    }
    return range(of: index, at: offset, in: chunk.unpackedBytes, limit, unit)
  }

  /// Returns the range of a row's value in the uncompressed bytes, of which those with the lengths up to it are there.
  private func range(
    of index: Int,
    at offset: Int,
    in bytes: RawSpan,
    _ limit: Int,
    _ unit: Int
  ) -> Range<Int>? {
    guard let list = IntegerList(bytes, at: offset, count: rowCount), list.end <= limit,
      let lengths = list.lengths(upTo: index, in: bytes, limit: limit),
      lengths.last % unit == 0, lengths.sum <= limit - list.end,
      lengths.last <= limit - list.end - lengths.sum
    else { return nil }
    let start = list.end + lengths.sum
    return start..<(start + lengths.last)
  }

  private func code(
    at offset: Int,
    of chunk: CutChunk,
    _ stored: RawSpan
  ) throws(LZ4.Failure) -> Int? {
    let entry = chunk.entry
    if entry.codec == .lz4, entry.rawByteCount > offset {
      // The numbers have one width, so the chunk's size tells how many bytes the first ones take.
      let share = (entry.rawByteCount - offset) * (lastIndex + 1) / rowCount
      try chunk.unpack(upTo: offset + 1 + share, stored)
    }
    guard let width = try byte(at: offset, of: chunk, stored), width <= 16 else { return nil }
    let end = offset + 1 + BitPacking.byteCount(rowCount, width: Int(width))
    guard end == entry.rawByteCount else { return nil }
    if entry.codec == .stored {
      let numbers = stored.extracting((offset + 1)..<end)
      return Int(BitPacking.number(at: index, in: numbers, width: Int(width)))
    }
    let needed = offset + 1 + BitPacking.byteCount(lastIndex + 1, width: Int(width))
    try chunk.unpack(upTo: needed, stored)
    let numbers = chunk.unpackedBytes.extracting((offset + 1)...)
    return Int(BitPacking.number(at: index, in: numbers, width: Int(width)))
  }

  /// Returns the one or two words of a value of fixed width.
  private func words(
    _ count: Int,
    at offset: Int,
    of chunk: CutChunk,
    _ stored: RawSpan
  ) throws(LZ4.Failure) -> (UInt64, UInt64)? {
    guard chunk.entry.rawByteCount == offset + rowCount * count * 8 else { return nil }
    let start = offset + index * count * 8
    func load(_ bytes: RawSpan) -> (UInt64, UInt64) {
      (
        bytes.load(UInt64.self, at: start),
        count == 2 ? bytes.load(UInt64.self, at: start + 8) : 0
      )
    }
    if chunk.entry.codec == .stored { return load(stored) }
    try chunk.unpack(upTo: offset + (lastIndex + 1) * count * 8, stored)
    return load(chunk.unpackedBytes)
  }

  private func byte(
    at offset: Int,
    of chunk: CutChunk,
    _ stored: RawSpan
  ) throws(LZ4.Failure) -> UInt8? {
    guard offset < chunk.entry.rawByteCount else { return nil }
    if chunk.entry.codec == .stored { return stored.load(UInt8.self, at: offset) }
    try chunk.unpack(upTo: offset + 1, stored)
    return chunk.unpackedBytes.load(UInt8.self, at: offset)
  }
}

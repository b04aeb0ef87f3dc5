import RowFormat

/// The bounds of a column in a block's footer entry, available without reading the block.
///
///     part   size            meaning
///     flags  1               bit 0: some rows are null; bit 1: some are not; bit 2: some are not a number
///     low    see below       a lower bound of the values that are neither
///     high                   an upper bound of them
///
/// Bounds follow only if bit 1 is set and there is a value to bound. An integer, reference or bool has `low` as a zigzag varint
/// and `high - low` as a varint; a double or date the eight bytes of each; text, bytes, structured values, blobs and UUIDs the
/// first eight bytes of each as a big-endian integer, padded with zeros, in eight bytes. A list of references has no bounds.
package struct ZoneMap: Hashable, Sendable {
  var flags: UInt8 = 0
  /// Integers as they are, doubles as their bits, prefixes as big-endian integers.
  var low: UInt64 = 0
  var high: UInt64 = 0

  static let hasNulls: UInt8 = 1
  static let hasValues: UInt8 = 2
  static let hasNotANumber: UInt8 = 4

  /// The part of the values that is compared.
  enum Order { case integer, double, prefix, none }

  static func order(of type: ColumnType) -> Order {
    switch type {
    case .integer, .bool, .reference: .integer
    case .double, .date: .double
    case .uuid, .text, .bytes, .structured, .blob: .prefix
    case .references: .none
    }
  }

  /// Whether bounds follow the flags on disk.
  func hasBounds(_ order: Order) -> Bool {
    flags & Self.hasValues != 0 && order != .none
  }
}

// MARK: Codec

extension ZoneMap {
  func encode(_ order: Order, into buffer: inout ByteBuffer) {
    buffer.append(flags)
    guard hasBounds(order) else { return }
    switch order {
    case .integer:
      buffer.appendVarint(IntegerCoding.zigzag(Int64(bitPattern: low)))
      buffer.appendVarint(high &- low)
    case .double, .prefix, .none:
      buffer.append(low)
      buffer.append(high)
    }
  }

  init?(decoding bytes: RawSpan, _ cursor: inout ByteCursor, _ order: Order) {
    guard let flags = cursor.integer(UInt8.self, in: bytes), flags <= 7 else { return nil }
    self.flags = flags
    guard hasBounds(order) else { return }
    switch order {
    case .integer:
      guard let base = cursor.varint(in: bytes), let range = cursor.varint(in: bytes) else {
        return nil
      }
      low = UInt64(bitPattern: IntegerCoding.unzigzag(base))
      high = low &+ range
    case .double, .prefix, .none:
      guard let low = cursor.integer(UInt64.self, in: bytes),
        let high = cursor.integer(UInt64.self, in: bytes)
      else { return nil }
      self.low = low
      self.high = high
    }
  }
}

// MARK: Making

extension ZoneMap {
  /// The bounds of integers.
  init(integers: [Int64], nullCount: Int) {
    flags = Self.flags(count: integers.count, nullCount: nullCount)
    guard flags & Self.hasValues != 0 else { return }
    var least = integers[0]
    var greatest = integers[0]
    for index in integers.indices {
      least = min(least, integers[index])
      greatest = max(greatest, integers[index])
    }
    low = UInt64(bitPattern: least)
    high = UInt64(bitPattern: greatest)
  }

  /// The bounds of doubles, given as their bits.
  init(doublePatterns: [Int64], nullCount: Int) {
    flags = Self.flags(count: doublePatterns.count, nullCount: nullCount)
    guard flags & Self.hasValues != 0 else { return }
    var least = Double.infinity
    var greatest = -Double.infinity
    for index in doublePatterns.indices {
      let value = Double(bitPattern: UInt64(bitPattern: doublePatterns[index]))
      if value.isNaN { flags |= Self.hasNotANumber }
      // Comparisons with NaN are false, and do not change the bounds.
      if value < least { least = value }
      if value > greatest { greatest = value }
    }
    low = least.bitPattern
    high = greatest.bitPattern
  }

  static func flags(count: Int, nullCount: Int) -> UInt8 {
    (nullCount > 0 ? hasNulls : 0) | (nullCount < count ? hasValues : 0)
  }

  /// Returns the first eight bytes as a number with the same order.
  static func prefix(of bytes: RawSpan) -> UInt64 {
    if bytes.byteCount >= 8 { return bytes.load(UInt64.self, at: 0).byteSwapped }
    var prefix: UInt64 = 0
    for index in 0..<bytes.byteCount {
      prefix |= UInt64(bytes.load(UInt8.self, at: index)) << UInt64(56 - 8 * index)
    }
    return prefix
  }
}

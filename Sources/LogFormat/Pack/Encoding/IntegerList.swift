import RowFormat

/// The head of an ``IntegerCoding``, by which single integers are found without the others.
struct IntegerList {
  private let width: Int
  private let base: Int64
  private let scale: Int64
  /// The first integer, if each of the others is told by its distance from the one before it.
  private let first: Int64?
  private let count: Int
  /// Where the packed numbers begin.
  private let start: Int

  /// How many bytes a head takes at most: the form, and three varints.
  static let headLimit = 1 + 3 * 10

  /// Reads a head; `nil` if the bytes are none.
  ///
  /// - Parameters:
  ///   - bytes: Bytes from a file, with the head.
  ///   - offset: The offset of the list.
  ///   - count: How many integers it has.
  init?(_ bytes: RawSpan, at offset: Int, count: Int) {
    guard offset <= bytes.byteCount, count > 0 else { return nil }
    var cursor = ByteCursor(offset..<bytes.byteCount)
    guard let form = cursor.integer(UInt8.self, in: bytes), form & 0x7F <= 64,
      let base = cursor.varint(in: bytes).map(IntegerCoding.unzigzag),
      let scale = cursor.varint(in: bytes)
    else { return nil }
    width = Int(form & 0x7F)
    self.base = base
    self.scale = Int64(bitPattern: scale)
    self.count = count
    if form & 0x80 == 0 {
      first = nil
    } else {
      guard let value = cursor.varint(in: bytes).map(IntegerCoding.unzigzag) else { return nil }
      first = value
    }
    start = cursor.offset
  }

  /// Where the list ends.
  var end: Int { end(ofFirst: count) }

  /// Where the bytes end by which so many of the first integers are known.
  func end(ofFirst number: Int) -> Int {
    let packed = first == nil ? number : number - 1
    return start + BitPacking.byteCount(max(0, packed), width: width)
  }

  /// One of the integers.
  ///
  /// - Parameters:
  ///   - index: Which one.
  ///   - bytes: The bytes, at least to the ``end(ofFirst:)`` of it and those before it.
  /// - Returns: The integer.
  /// - Complexity: O(1), or O(`index`) where each is told by its distance from the one before.
  func value(at index: Int, in bytes: RawSpan) -> Int64 {
    guard var value = first else {
      let packed = bytes.extracting(start..<bytes.byteCount)
      let number = BitPacking.number(at: index, in: packed, width: width)
      return base &+ Int64(bitPattern: number) &* scale
    }
    BitPacking.unpack(packed(bytes, index), index, width: width) { _, number in
      value = value &+ base &+ Int64(bitPattern: number) &* scale
    }
    return value
  }

  /// Adds up lengths.
  ///
  /// - Parameters:
  ///   - index: Up to which one; it is the second part of the result.
  ///   - bytes: The bytes, at least to the ``end(ofFirst:)`` of it and those before it.
  ///   - limit: The most that a length may be.
  /// - Returns: The sum of the lengths before, and the length; `nil` if one is less than 0 or more than the limit.
  /// - Complexity: O(`index`).
  func lengths(upTo index: Int, in bytes: RawSpan, limit: Int) -> (sum: Int, last: Int)? {
    var sum: Int64 = 0
    var last: Int64 = first ?? 0
    var isValid = first.map { 0...Int64(limit) ~= $0 } ?? true
    let (base, scale, limit) = (base, scale, Int64(limit))
    if first == nil {
      BitPacking.unpack(packed(bytes, index + 1), index + 1, width: width) { _, number in
        sum &+= last
        last = base &+ Int64(bitPattern: number) &* scale
        isValid = isValid && last >= 0 && last <= limit
      }
    } else {
      BitPacking.unpack(packed(bytes, index), index, width: width) { _, number in
        sum &+= last
        last = last &+ base &+ Int64(bitPattern: number) &* scale
        isValid = isValid && last >= 0 && last <= limit
      }
    }
    return isValid ? (Int(sum), Int(last)) : nil
  }

  @_lifetime(copy bytes)
  private func packed(_ bytes: RawSpan, _ number: Int) -> RawSpan {
    bytes.extracting(start..<(start + BitPacking.byteCount(number, width: width)))
  }
}

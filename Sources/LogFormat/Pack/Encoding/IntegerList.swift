import RowFormat

/// The head of an ``IntegerCoding``, which gives access to single integers without decoding the others.
struct IntegerList {
  private let width: Int
  private let base: Int64
  private let scale: Int64
  /// The first integer, if each of the others is stored as the difference from its predecessor.
  private let first: Int64?
  private let count: Int
  /// The offset of the packed numbers.
  private let start: Int

  /// Limit of a head, in bytes: the form, and three varints.
  static let headLimit = 1 + 3 * 10

  /// Reads a head; `nil` if the bytes are not a head.
  ///
  /// - Parameters:
  ///   - bytes: Bytes from a file, including the head.
  ///   - offset: The offset of the list.
  ///   - count: The number of integers in the list.
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

  /// The end of the list.
  var end: Int { end(ofFirst: count) }

  /// Returns the end of the bytes that determine that many of the first integers.
  func end(ofFirst number: Int) -> Int {
    let packed = first == nil ? number : number - 1
    return start + BitPacking.byteCount(max(0, packed), width: width)
  }

  /// Returns one of the integers.
  ///
  /// - Parameters:
  ///   - index: The index of the integer.
  ///   - bytes: The bytes, at least to the ``end(ofFirst:)`` that includes the integer.
  /// - Returns: The integer.
  /// - Complexity: O(1), or O(`index`) if integers are stored as differences from their predecessors.
  func value(at index: Int, in bytes: RawSpan) -> Int64 {
    guard var value = first else {
      let packed = bytes.extracting(start..<bytes.byteCount)
      let number = BitPacking.number(at: index, in: packed, width: width)
      return base &+ Int64(bitPattern: number) &* scale
    }
    BitPacking.unpack(packed(bytes, index), 0..<index, width: width) { _, number in
      value = value &+ base &+ Int64(bitPattern: number) &* scale
    }
    return value
  }

  /// Adds up the lengths before an index.
  ///
  /// - Parameters:
  ///   - index: The index; the length there is the second part of the result.
  ///   - bytes: The bytes, at least to the ``end(ofFirst:)`` that includes this length.
  ///   - limit: The limit of a length.
  /// - Returns: The sum of the lengths before, and the length; `nil` if a length is negative or beyond the limit.
  /// - Complexity: O(`index`).
  func lengths(upTo index: Int, in bytes: RawSpan, limit: Int) -> (sum: Int, last: Int)? {
    var sum: Int64 = 0
    var last: Int64 = first ?? 0
    var isValid = first.map { 0...Int64(limit) ~= $0 } ?? true
    let (base, scale, limit) = (base, scale, Int64(limit))
    if first == nil {
      BitPacking.unpack(packed(bytes, index + 1), 0..<(index + 1), width: width) { _, number in
        sum &+= last
        last = base &+ Int64(bitPattern: number) &* scale
        isValid = isValid && last >= 0 && last <= limit
      }
    } else {
      BitPacking.unpack(packed(bytes, index), 0..<index, width: width) { _, number in
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

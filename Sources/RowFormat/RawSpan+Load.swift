/// Every integer read from bytes goes through here.
extension RawSpan {
  /// Loads a little-endian integer, aligned or not.
  ///
  /// An offset out of bounds is the caller's mistake, and traps: check the size first, once for a whole header or row.
  @inlinable
  public func load<T: FixedWidthInteger & BitwiseCopyable>(_: T.Type, at offset: Int) -> T {
    T(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: T.self))
  }
}

/// A cursor over untrusted bytes: every read reports whether the bytes were there.
///
/// The spans themselves cannot be stored in an escapable type, so the cursor contains the position, and each call takes the
/// bytes.
public struct ByteCursor: Sendable {
  /// The offset of the next byte to read.
  public var offset: Int
  /// The offset after the last byte that may be read.
  public let end: Int

  /// Creates a cursor at the start of a range of offsets.
  @inlinable public init(_ range: Range<Int>) {
    offset = range.lowerBound
    end = range.upperBound
  }

  /// The number of bytes that may still be read.
  @inlinable public var remaining: Int { end &- offset }

  /// Reads an LEB128 varint; `nil` if it is cut off or longer than 64 bits.
  @inlinable public mutating func varint(in bytes: RawSpan) -> UInt64? {
    var result: UInt64 = 0
    var shift: UInt64 = 0
    while offset < end, shift < 64 {
      let byte = bytes.load(UInt8.self, at: offset)
      offset &+= 1
      if shift == 63 && byte > 1 { return nil }
      result |= UInt64(byte & 0x7F) &<< shift
      if byte < 0x80 { return result }
      shift &+= 7
    }
    return nil
  }

  /// Reads a little-endian integer; `nil` if fewer bytes are left.
  @inlinable public mutating func integer<T: FixedWidthInteger & BitwiseCopyable>(
    _: T.Type,
    in bytes: RawSpan
  ) -> T? {
    let width = MemoryLayout<T>.size
    guard remaining >= width else { return nil }
    defer { offset &+= width }
    return bytes.load(T.self, at: offset)
  }

  /// Takes the next `count` bytes; `nil` if fewer are left.
  @inlinable public mutating func take(_ count: Int) -> Range<Int>? {
    guard count >= 0, remaining >= count else { return nil }
    defer { offset &+= count }
    return offset..<(offset &+ count)
  }
}

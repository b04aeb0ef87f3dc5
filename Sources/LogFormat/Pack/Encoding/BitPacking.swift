import RowFormat

/// Numbers of a fixed bit width, one behind the other, from the lowest bit of the first byte on.
enum BitPacking {
  /// Returns the number of bits that a number needs; 0 for the number 0.
  @inline(__always)
  static func width(of number: UInt64) -> Int { 64 - number.leadingZeroBitCount }

  /// Returns the size of that many numbers, in bytes.
  @inline(__always)
  static func byteCount(_ count: Int, width: Int) -> Int { (count * width + 7) / 8 }

  /// Appends numbers of at most `width` bits.
  @inline(__always)
  static func pack(
    _ count: Int,
    width: Int,
    into buffer: inout ByteBuffer,
    _ number: (Int) -> UInt64
  ) {
    if width == 0 { return }
    buffer.reserve(byteCount(count, width: width) + 8)
    var word: UInt64 = 0
    var filled = 0
    for index in 0..<count {
      let next = number(index)
      word |= next &<< UInt64(filled)
      filled += width
      if filled >= 64 {
        buffer.append(word)
        filled -= 64
        // The part of the number that did not fit: `filled` of its bits.
        word = filled == 0 ? 0 : next &>> UInt64(width - filled)
      }
    }
    while filled > 0 {
      buffer.append(UInt8(truncatingIfNeeded: word))
      word >>= 8
      filled -= 8
    }
  }

  /// Visits some of the numbers in order.
  ///
  /// - Parameters:
  ///   - bytes: At least the bytes up to the last of them.
  ///   - wanted: The indices of the numbers.
  ///   - width: The width of a number in bits, 0 to 64.
  ///   - store: Called with each index and number.
  @inline(__always)
  static func unpack(
    _ bytes: RawSpan,
    _ wanted: Range<Int>,
    width: Int,
    _ store: (Int, UInt64) -> Void
  ) {
    precondition(
      0...64 ~= width && wanted.lowerBound >= 0
        && bytes.byteCount >= byteCount(wanted.upperBound, width: width),
      "numbers \(wanted) of \(width) bits in \(bytes.byteCount) bytes"
    )
    unsafe bytes.withUnsafeBytes { bytes in
      switch width {
      case 0: for index in wanted { store(index, 0) }
      // Whole bytes need no shifting, and the loops become wide loads.
      case 8:
        for index in wanted {
          store(index, UInt64(unsafe bytes.load(fromByteOffset: index, as: UInt8.self)))
        }
      case 16:
        for index in wanted {
          let number = unsafe bytes.loadUnaligned(fromByteOffset: index &* 2, as: UInt16.self)
          store(index, UInt64(UInt16(littleEndian: number)))
        }
      case 32:
        for index in wanted {
          let number = unsafe bytes.loadUnaligned(fromByteOffset: index &* 4, as: UInt32.self)
          store(index, UInt64(UInt32(littleEndian: number)))
        }
      case 64:
        for index in wanted {
          let number = unsafe bytes.loadUnaligned(fromByteOffset: index &* 8, as: UInt64.self)
          store(index, UInt64(littleEndian: number))
        }
      default: unsafe unpackBits(bytes, wanted, width, store)
      }
    }
  }

  /// Returns one of the numbers.
  ///
  /// - Parameters:
  ///   - index: The index of the number; the bytes must reach to its end.
  ///   - bytes: The numbers, from the first on.
  ///   - width: The width of a number in bits, 0 to 64.
  /// - Returns: The number.
  @inline(__always)
  static func number(at index: Int, in bytes: RawSpan, width: Int) -> UInt64 {
    if width == 0 { return 0 }
    let bit = index * width
    let (first, shift) = (bit >> 3, UInt64(bit & 7))
    let mask = UInt64.max &>> UInt64(64 - width)
    if width <= 57, first + 8 <= bytes.byteCount {
      return bytes.load(UInt64.self, at: first) &>> shift & mask
    }
    var number: UInt64 = 0
    let last = (bit + width - 1) >> 3
    for byte in first...last {
      let value = UInt64(bytes.load(UInt8.self, at: byte))
      let place = byte * 8 - bit
      number |= place >= 0 ? value << UInt64(place) : value >> UInt64(-place)
    }
    return number & mask
  }

  @inline(__always)
  private static func unpackBits(
    _ bytes: UnsafeRawBufferPointer,
    _ wanted: Range<Int>,
    _ width: Int,
    _ store: (Int, UInt64) -> Void
  ) {
    let mask = UInt64.max &>> UInt64(64 - width)
    // As long as nine bytes can be loaded, which contain any number at any bit offset.
    let safeBits = (bytes.count - 8) * 8
    let safeEnd = safeBits <= 0 ? 0 : safeBits / width
    let end = min(max(safeEnd, wanted.lowerBound), wanted.upperBound)
    if width <= 57 {
      for index in wanted.lowerBound..<end {
        let bit = index &* width
        let word = unsafe bytes.loadUnaligned(fromByteOffset: bit &>> 3, as: UInt64.self)
        store(index, UInt64(littleEndian: word) &>> UInt64(bit & 7) & mask)
      }
    } else {
      for index in wanted.lowerBound..<end {
        let bit = index &* width
        let shift = UInt64(bit & 7)
        let word = unsafe bytes.loadUnaligned(fromByteOffset: bit &>> 3, as: UInt64.self)
        let top = unsafe bytes.load(fromByteOffset: bit &>> 3 &+ 8, as: UInt8.self)
        let high = shift == 0 ? 0 : UInt64(top) &<< (64 &- shift)
        store(index, (UInt64(littleEndian: word) &>> shift | high) & mask)
      }
    }
    for index in end..<wanted.upperBound {
      var number: UInt64 = 0
      let first = index &* width
      let last = first &+ width &- 1
      for byte in (first >> 3)...(last >> 3) {
        let value = UInt64(unsafe bytes.load(fromByteOffset: byte, as: UInt8.self))
        let shift = byte &* 8 &- first
        number |= shift >= 0 ? value << UInt64(shift) : value >> UInt64(-shift)
      }
      store(index, number & mask)
    }
  }
}

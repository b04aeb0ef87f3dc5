import RowFormat

/// The kinds of items, in the three high bits of an item's first byte.
enum StructuredMajor: UInt8 {
  case unsigned = 0, negative, bytes, text, array, map, tag, simple
}

/// The supported tags.
enum StructuredTag {
  static let uri: UInt64 = 32
  static let uuid: UInt64 = 37
  static let referenceDate: UInt64 = 2001
}

/// The beginning of an item: its kind, and a number that gives its length or its value.
struct StructuredHead {
  let major: StructuredMajor
  /// The low five bits of the first byte: the encoding of the argument.
  let information: UInt8
  /// The value, the count, the tag, or the bits of a float.
  let argument: UInt64
  /// The offset of the item's content.
  let end: Int

  static let falseInformation: UInt8 = 20
  static let trueInformation: UInt8 = 21
  static let nullInformation: UInt8 = 22
  static let undefinedInformation: UInt8 = 23
  static let indefiniteInformation: UInt8 = 31
  /// Ends a container of indefinite length.
  static let breakByte: UInt8 = 0xFF

  /// Whether the item is a container or string that is ended by a break.
  var isIndefinite: Bool { information == StructuredHead.indefiniteInformation }
  var isNull: Bool { major == .simple && information == StructuredHead.nullInformation }

  /// Reads a head, or returns `nil` if there is none: the bytes are cut off, or invalid.
  init?(at offset: Int, in bytes: RawSpan) {
    guard offset >= 0, offset < bytes.byteCount else { return nil }
    let first = bytes.load(UInt8.self, at: offset)
    guard let major = StructuredMajor(rawValue: first >> 5) else { return nil }
    let information = first & 0x1F
    let available = bytes.byteCount - offset - 1
    let argument: UInt64
    let width: Int
    switch information {
    case 0..<24:
      (argument, width) = (UInt64(information), 0)
    case 24 where available >= 1:
      (argument, width) = (UInt64(bytes.load(UInt8.self, at: offset + 1)), 1)
      // Each value has one form: a simple value below 32 is in the first byte.
      if major == .simple && argument < 32 { return nil }
    case 25 where available >= 2:
      (argument, width) = (UInt64(bytes.load(UInt16.self, at: offset + 1).byteSwapped), 2)
    case 26 where available >= 4:
      (argument, width) = (UInt64(bytes.load(UInt32.self, at: offset + 1).byteSwapped), 4)
    case 27 where available >= 8:
      (argument, width) = (bytes.load(UInt64.self, at: offset + 1).byteSwapped, 8)
    case StructuredHead.indefiniteInformation:
      guard major == .bytes || major == .text || major == .array || major == .map else {
        return nil
      }
      (argument, width) = (0, 0)
    default:
      return nil
    }
    self.major = major
    self.information = information
    self.argument = argument
    end = offset + 1 + width
  }

  /// The value of a float, or `nil` for any other item.
  var float: Double? {
    guard major == .simple else { return nil }
    switch information {
    case 25: return StructuredHead.half(UInt16(truncatingIfNeeded: argument))
    case 26: return Double(Float(bitPattern: UInt32(truncatingIfNeeded: argument)))
    case 27: return Double(bitPattern: argument)
    default: return nil
    }
  }

  /// The value of a 16-bit float; `Float16` is not available on every processor.
  private static func half(_ bits: UInt16) -> Double {
    let exponent = Int(bits >> 10) & 0x1F
    let fraction = Double(bits & 0x3FF)
    let magnitude: Double =
      switch exponent {
      case 0: fraction * 0x1p-24
      case 31: fraction == 0 ? .infinity : .nan
      default: Double(sign: .plus, exponent: exponent - 25, significand: fraction + 1024)
      }
    return bits >> 15 == 0 ? magnitude : -magnitude
  }
}

extension ByteBuffer {
  /// Appends a head in its shortest form.
  mutating func appendHead(_ major: StructuredMajor, _ argument: UInt64) {
    let high = major.rawValue << 5
    switch argument {
    case 0..<24:
      append(high | UInt8(truncatingIfNeeded: argument))
    case 24...0xFF:
      append(high | 24)
      append(UInt8(truncatingIfNeeded: argument))
    case 0x100...0xFFFF:
      append(high | 25)
      append(UInt16(truncatingIfNeeded: argument).byteSwapped)
    case 0x1_0000...0xFFFF_FFFF:
      append(high | 26)
      append(UInt32(truncatingIfNeeded: argument).byteSwapped)
    default:
      append(high | 27)
      append(argument.byteSwapped)
    }
  }
}

extension JSONValue {
  /// Appends the value as a structured column has it: ``StructuredValue`` the other way round.
  ///
  /// Without tags, which JSON has none of: the type that reads the value does not need them. An object that says how many
  /// bytes there are, and has them in hexadecimal, is what an export writes for a string of bytes, and becomes one.
  func writeStructured(to bytes: inout [UInt8]) {
    switch self {
    case .null: bytes.append(0xF6)
    case .bool(let value): bytes.append(value ? 0xF5 : 0xF4)
    case .integer(let value):
      let argument = UInt64(bitPattern: value < 0 ? ~value : value)
      Self.writeHead(value < 0 ? 1 : 0, argument, to: &bytes)
    case .unsigned(let value): Self.writeHead(0, value, to: &bytes)
    case .double(let value):
      bytes.append(0xFB)
      Self.write(value.bitPattern, byteCount: 8, to: &bytes)
    case .string(let text):
      Self.writeHead(3, UInt64(text.utf8.count), to: &bytes)
      bytes += text.utf8
    case .array(let values):
      Self.writeHead(4, UInt64(values.count), to: &bytes)
      for value in values { value.writeStructured(to: &bytes) }
    case .object(let members):
      if let string = byteString {
        Self.writeHead(2, UInt64(string.count), to: &bytes)
        return bytes += string
      }
      Self.writeHead(5, UInt64(members.count), to: &bytes)
      for member in members {
        JSONValue.string(member.name).writeStructured(to: &bytes)
        member.value.writeStructured(to: &bytes)
      }
    }
  }

  /// The bytes that an object has in hexadecimal.
  private var byteString: [UInt8]? {
    guard case .object(let members) = self, members.map(\.name) == ["bytes", "hex"],
      case .integer(let count) = members[0].value, case .string(let text) = members[1].value,
      let bytes = [UInt8](hexadecimal: text), bytes.count == count
    else { return nil }
    return bytes
  }

  /// Appends the head of an item: its kind, and a number in as few bytes as it needs.
  private static func writeHead(_ kind: UInt8, _ argument: UInt64, to bytes: inout [UInt8]) {
    let kind = kind << 5
    switch argument {
    case ..<24: bytes.append(kind | UInt8(argument))
    case ...0xFF:
      bytes.append(kind | 24)
      write(argument, byteCount: 1, to: &bytes)
    case ...0xFFFF:
      bytes.append(kind | 25)
      write(argument, byteCount: 2, to: &bytes)
    case ...0xFFFF_FFFF:
      bytes.append(kind | 26)
      write(argument, byteCount: 4, to: &bytes)
    default:
      bytes.append(kind | 27)
      write(argument, byteCount: 8, to: &bytes)
    }
  }

  private static func write(_ value: UInt64, byteCount: Int, to bytes: inout [UInt8]) {
    for place in (0..<byteCount).reversed() {
      bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(place * 8)))
    }
  }
}

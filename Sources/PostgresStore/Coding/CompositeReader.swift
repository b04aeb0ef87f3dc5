#if PostgreSQL
import Foundation
import RowFormat

/// Reads the JSON of composite values, as ``CompositeText`` writes it or a person has typed it, into the CBOR of rows.
struct CompositeReader {
  private let json: UnsafeRawBufferPointer
  private var offset = 0
  private var depth = 0

  struct Malformed: Error {
    let reason: String
  }

  /// Appends the CBOR of a whole text of JSON.
  ///
  /// - Throws: ``Malformed``.
  static func append(_ json: UnsafeRawBufferPointer, to cbor: inout [UInt8]) throws {
    var reader = CompositeReader(json: json)
    try reader.appendValue(to: &cbor)
    reader.skipSpace()
    if reader.offset < json.count { throw reader.malformed("text behind the value") }
  }

  private init(json: UnsafeRawBufferPointer) { self.json = json }

  private func malformed(_ what: String) -> Malformed {
    Malformed(reason: "\(what) at byte \(offset)")
  }

  private mutating func skipSpace() {
    while offset < json.count, [0x20, 0x09, 0x0A, 0x0D].contains(json[offset]) { offset += 1 }
  }

  private mutating func next() -> UInt8? {
    skipSpace()
    return offset < json.count ? json[offset] : nil
  }

  private mutating func expect(_ character: Unicode.Scalar) throws {
    guard next() == UInt8(ascii: character) else { throw malformed("no '\(character)'") }
    offset += 1
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard next() == UInt8(ascii: character) else { return false }
    offset += 1
    return true
  }

  private mutating func appendValue(to cbor: inout [UInt8]) throws {
    switch next() {
    case UInt8(ascii: "{"): try nested { try $0.appendObject(to: &cbor) }
    case UInt8(ascii: "["): try nested { try $0.appendArray(to: &cbor) }
    case UInt8(ascii: "\""): cbor.appendCBOR(text: try text())
    case UInt8(ascii: "t"): try word("true") { cbor.append(0xF5) }
    case UInt8(ascii: "f"): try word("false") { cbor.append(0xF4) }
    case UInt8(ascii: "n"): try word("null") { cbor.append(0xF6) }
    default: try appendNumber(to: &cbor)
    }
  }

  private mutating func nested(_ body: (inout CompositeReader) throws -> Void) throws {
    // Recursion decodes the values that are read here, later.
    guard depth < 200 else { throw malformed("more than 200 values inside each other") }
    depth += 1
    try body(&self)
    depth -= 1
  }

  private mutating func word(_ word: StaticString, _ body: () -> Void) throws {
    let end = offset + word.utf8CodeUnitCount
    guard end <= json.count,
      json[offset..<end].elementsEqual(
        UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
      )
    else { throw malformed("no '\(word)'") }
    offset = end
    body()
  }

  private mutating func appendArray(to cbor: inout [UInt8]) throws {
    try expect("[")
    var values: [UInt8] = []
    var count = 0
    if !take("]") {
      repeat {
        try appendValue(to: &values)
        count += 1
      } while take(",")
      try expect("]")
    }
    cbor.appendCBOR(head: 4, UInt64(count))
    cbor.append(contentsOf: values)
  }

  private mutating func appendObject(to cbor: inout [UInt8]) throws {
    try expect("{")
    var members: [UInt8] = []
    var count = 0
    if !take("}") {
      repeat {
        guard next() == UInt8(ascii: "\"") else { throw malformed("no name of a member") }
        let name = try text()
        try expect(":")
        if count == 0, name.hasPrefix("$") { return try appendWrapped(name, to: &cbor) }
        members.appendCBOR(text: name)
        try appendValue(to: &members)
        count += 1
      } while take(",")
      try expect("}")
    }
    cbor.appendCBOR(head: 5, UInt64(count))
    cbor.append(contentsOf: members)
  }

  /// Reads the value behind a name that begins with "$" in an object, and the object's end.
  private mutating func appendWrapped(_ name: String, to cbor: inout [UInt8]) throws {
    switch name {
    case "$double":
      guard let value = Double(try text()) else { throw malformed("no double") }
      cbor.appendCBOR(double: value)
    case "$text":
      cbor.appendCBOR(text: String(decoding: try base64(), as: UTF8.self))
    case "$data":
      let data = try base64()
      cbor.appendCBOR(head: 2, UInt64(data.count))
      cbor.append(contentsOf: data)
    case "$date":
      cbor.appendCBOR(head: 6, 2001)
      if next() == UInt8(ascii: "{") {
        try appendValue(to: &cbor)
      } else {
        cbor.appendCBOR(double: try number())
      }
    case "$uuid":
      guard let uuid = UUID(uuidString: try text()) else { throw malformed("no UUID") }
      cbor.appendCBOR(head: 6, 37)
      cbor.appendCBOR(head: 2, 16)
      withUnsafeBytes(of: uuid.uuid) { cbor.append(contentsOf: $0) }
    case "$url":
      cbor.appendCBOR(head: 6, 32)
      cbor.appendCBOR(text: try text())
    case "$tag":
      guard let tag = UInt64(String(decoding: digits(), as: UTF8.self)) else {
        throw malformed("no tag")
      }
      try expect(",")
      guard try text() == "$value" else { throw malformed("no \"$value\"") }
      try expect(":")
      cbor.appendCBOR(head: 6, tag)
      try appendValue(to: &cbor)
    case "$map": try appendMap(to: &cbor)
    default: throw malformed("the name \(name), which means nothing")
    }
    try expect("}")
  }

  private mutating func appendMap(to cbor: inout [UInt8]) throws {
    try expect("[")
    var entries: [UInt8] = []
    var count = 0
    if !take("]") {
      repeat {
        try expect("[")
        try appendValue(to: &entries)
        try expect(",")
        try appendValue(to: &entries)
        try expect("]")
        count += 1
      } while take(",")
      try expect("]")
    }
    cbor.appendCBOR(head: 5, UInt64(count))
    cbor.append(contentsOf: entries)
  }

  private mutating func base64() throws -> Data {
    guard let data = Data(base64Encoded: try text()) else { throw malformed("no base64") }
    return data
  }

  /// The characters of a number.
  private mutating func digits() -> UnsafeRawBufferPointer {
    skipSpace()
    let start = offset
    while offset < json.count {
      switch json[offset] {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"),
        UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"):
        offset += 1
        continue
      default: break
      }
      break
    }
    return UnsafeRawBufferPointer(rebasing: json[start..<offset])
  }

  private mutating func number() throws -> Double {
    guard let value = Double(String(decoding: digits(), as: UTF8.self)) else {
      throw malformed("no number")
    }
    return value
  }

  private mutating func appendNumber(to cbor: inout [UInt8]) throws {
    let text = String(decoding: digits(), as: UTF8.self)
    if let value = Int64(text) {
      if value >= 0 {
        cbor.appendCBOR(head: 0, UInt64(value))
      } else {
        cbor.appendCBOR(head: 1, UInt64(~value))
      }
    } else if let value = UInt64(text) {
      cbor.appendCBOR(head: 0, value)
    } else if let value = Double(text) {
      cbor.appendCBOR(double: value)
    } else {
      throw malformed("no value")
    }
  }

  private mutating func text() throws -> String {
    try expect("\"")
    var bytes: [UInt8] = []
    while offset < json.count {
      let byte = json[offset]
      offset += 1
      switch byte {
      case UInt8(ascii: "\""):
        guard let text = String(validating: bytes, as: UTF8.self) else {
          throw malformed("text that is not UTF-8")
        }
        return text
      case UInt8(ascii: "\\"): try appendEscaped(to: &bytes)
      default: bytes.append(byte)
      }
    }
    throw malformed("no end of a text")
  }

  private mutating func appendEscaped(to bytes: inout [UInt8]) throws {
    guard offset < json.count else { throw malformed("no character behind a backslash") }
    let byte = json[offset]
    offset += 1
    switch byte {
    case UInt8(ascii: "n"): bytes.append(0x0A)
    case UInt8(ascii: "t"): bytes.append(0x09)
    case UInt8(ascii: "r"): bytes.append(0x0D)
    case UInt8(ascii: "b"): bytes.append(0x08)
    case UInt8(ascii: "f"): bytes.append(0x0C)
    case UInt8(ascii: "u"):
      var unit = UInt32(try hexadecimal())
      if 0xD800..<0xDC00 ~= unit, offset + 6 <= json.count, json[offset] == UInt8(ascii: "\\") {
        offset += 2
        unit = 0x10000 + (unit - 0xD800) << 10 + (UInt32(try hexadecimal()) &- 0xDC00)
      }
      guard let scalar = Unicode.Scalar(unit) else { throw malformed("half a character") }
      bytes.append(contentsOf: String(Character(scalar)).utf8)
    default: bytes.append(byte)
    }
  }

  private mutating func hexadecimal() throws -> UInt16 {
    guard offset + 4 <= json.count,
      let unit = UInt16(String(decoding: json[offset..<(offset + 4)], as: UTF8.self), radix: 16)
    else { throw malformed("no four digits behind \\u") }
    offset += 4
    return unit
  }
}

extension [UInt8] {
  fileprivate mutating func appendCBOR(head major: UInt8, _ argument: UInt64) {
    let high = major << 5
    switch argument {
    case 0..<24: append(high | UInt8(argument))
    case 24...0xFF:
      append(high | 24)
      append(UInt8(argument))
    case 0x100...0xFFFF:
      append(high | 25)
      appendBigEndian(UInt16(argument))
    case 0x1_0000...0xFFFF_FFFF:
      append(high | 26)
      appendBigEndian(UInt32(argument))
    default:
      append(high | 27)
      appendBigEndian(argument)
    }
  }

  fileprivate mutating func appendCBOR(text: String) {
    appendCBOR(head: 3, UInt64(text.utf8.count))
    append(contentsOf: text.utf8)
  }

  fileprivate mutating func appendCBOR(double: Double) {
    append(0xFB)
    appendBigEndian(double.bitPattern)
  }
}
#endif

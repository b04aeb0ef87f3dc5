import RowFormat

/// Bytes as `xxd` shows them, under their offsets in the file.
///
///     00001000  46 52 4d 31 5c 00 00 00  01 00 00 00 00 00 00 00  |FRM1\...........|
struct HexDump {
  /// Visits the lines of a dump; the first byte is at the given offset of the file.
  static func forEachLine(of bytes: RawSpan, at offset: Int, _ body: (String) -> Void) {
    for start in stride(from: 0, to: bytes.byteCount, by: 16) {
      let count = min(16, bytes.byteCount - start)
      var hex = ""
      var text = ""
      for index in 0..<16 {
        if index % 8 == 0 { hex += " " }
        guard index < count else {
          hex += "   "
          continue
        }
        let byte = bytes.load(UInt8.self, at: start + index)
        hex += " " + Int(byte).hexadecimal(2)
        text += 0x20..<0x7F ~= byte ? String(UnicodeScalar(byte)) : "."
      }
      body("\((offset + start).hexadecimal(8))\(hex)  |\(text)|")
    }
  }
}

extension BinaryInteger {
  /// The number in lowercase hexadecimal, with leading zeros.
  func hexadecimal(_ digits: Int) -> String {
    let text = String(self, radix: 16)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }
}

/// Reads the objects of ndjson, a line each: their members are names and values.
struct JSONScanner {
  private let bytes: [UInt8]
  private var position = 0
  private var line = 1
  private var lineStart = 0
  /// A file must not be able to exhaust the stack; no composite value that was stored is nested deeper.
  private static let depthLimit = 128

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    // A mark of byte order, as other systems write it.
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
      position = 3
      lineStart = 3
    }
  }

  typealias Member = (name: String, field: ImportField)

  /// The members of the next object, and where it begins; `nil` at the end.
  ///
  /// - Throws: ``ImportError`` for what is no object of JSON in one line.
  mutating func next() throws(ImportError) -> (start: ImportField.Place, members: [Member])? {
    while position < bytes.count, isSpace(bytes[position]) { skipOne() }
    guard position < bytes.count else { return nil }
    let start = place
    try take("{", "an object, in a line of its own")
    var members: [Member] = []
    skipSpaces()
    if peek() != UInt8(ascii: "}") {
      repeat {
        skipSpaces()
        let name = try string("the name of a column between quotes")
        skipSpaces()
        try take(":", "a colon")
        skipSpaces()
        members.append((name, try field()))
        skipSpaces()
      } while takeIf(",")
    }
    try take("}", "a comma or }")
    skipSpaces()
    guard position == bytes.count || bytes[position] == 10 || bytes[position] == 13 else {
      throw error("the end of the line")
    }
    return (start, members)
  }

  /// A value of JSON that is all of a text; `nil` for any other text.
  static func value(of text: String) -> JSONValue? {
    var scanner = JSONScanner(Array(text.utf8))
    guard let value = try? scanner.value(depth: 0), scanner.position == scanner.bytes.count else {
      return nil
    }
    return value
  }

  private mutating func field() throws(ImportError) -> ImportField {
    let start = place
    switch try value(depth: 0) {
    case .string(let text): return ImportField(text: text, place: start)
    case .null: return ImportField(text: nil, place: start, isLiteral: true)
    case let value:
      let text = String(decoding: bytes[start.offset..<position], as: UTF8.self)
      switch value {
      case .array, .object: return ImportField(text: text, place: start, nested: value)
      default: return ImportField(text: text, place: start, isLiteral: true)
      }
    }
  }

  private mutating func value(depth: Int) throws(ImportError) -> JSONValue {
    guard depth < Self.depthLimit else {
      throw error("a value that is nested less than \(Self.depthLimit) times")
    }
    switch peek() {
    case UInt8(ascii: "\""): return .string(try string("a value"))
    case UInt8(ascii: "["):
      var values: [JSONValue] = []
      try elements("[", "]") { (scanner: inout JSONScanner) throws(ImportError) in
        values.append(try scanner.value(depth: depth + 1))
      }
      return .array(values)
    case UInt8(ascii: "{"):
      var members: [JSONValue.Member] = []
      try elements("{", "}") { (scanner: inout JSONScanner) throws(ImportError) in
        let name = try scanner.string("a name between quotes")
        scanner.skipSpaces()
        try scanner.take(":", "a colon")
        scanner.skipSpaces()
        members.append(.init(name: name, value: try scanner.value(depth: depth + 1)))
      }
      return .object(members)
    default: return try literal()
    }
  }

  /// Reads the elements between brackets, with commas between.
  private mutating func elements(
    _ opening: Unicode.Scalar,
    _ closing: Unicode.Scalar,
    _ body: (inout JSONScanner) throws(ImportError) -> Void
  ) throws(ImportError) {
    try take(opening, "\(opening)")
    skipSpaces()
    if takeIf(closing) { return }
    repeat {
      skipSpaces()
      try body(&self)
      skipSpaces()
    } while takeIf(",")
    try take(closing, "a comma or \(closing)")
  }

  private mutating func literal() throws(ImportError) -> JSONValue {
    let start = position
    while let byte = peek(), !isSpace(byte), !",}]".utf8.contains(byte) { position += 1 }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    if let value = JSONValue(literal: text) { return value }
    position = start
    throw error("a value: a text, a number, true, false, null, a list or an object")
  }

  private mutating func string(_ expected: String) throws(ImportError) -> String {
    let start = place
    guard takeIf("\"") else { throw error(expected) }
    var text: [UInt8] = []
    while let byte = peek(), byte != 10, byte != 13 {
      position += 1
      if byte == UInt8(ascii: "\"") {
        if let text = String(validating: text, as: UTF8.self) { return text }
        throw ImportError(notUTF8: text[...], at: start, in: bytes)
      }
      if byte != UInt8(ascii: "\\") {
        text.append(byte)
        continue
      }
      guard let kind = peek() else { break }
      position += 1
      switch kind {
      case UInt8(ascii: "n"): text.append(10)
      case UInt8(ascii: "r"): text.append(13)
      case UInt8(ascii: "t"): text.append(9)
      case UInt8(ascii: "b"): text.append(8)
      case UInt8(ascii: "f"): text.append(12)
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(kind)
      case UInt8(ascii: "u"): text += Array(String(try scalar()).utf8)
      default:
        position -= 1
        throw error(#"one of \n \r \t \b \f \" \\ \/ \uXXXX"#)
      }
    }
    throw error("a closing quote")
  }

  /// A character by its number; two halves of one outside of the basic plane follow each other.
  private mutating func scalar() throws(ImportError) -> Character {
    let first = try unit()
    if 0xD800...0xDBFF ~= first, takeIf("\\"), takeIf("u") {
      let second = try unit()
      if 0xDC00...0xDFFF ~= second,
        let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
      {
        return Character(scalar)
      }
    }
    guard let scalar = Unicode.Scalar(first) else { throw error("the number of a character") }
    return Character(scalar)
  }

  private mutating func unit() throws(ImportError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = peek(), let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw error("four hexadecimal digits")
      }
      value = value << 4 | UInt32(digit)
      position += 1
    }
    return value
  }

  // MARK: Bytes

  private func peek() -> UInt8? { position < bytes.count ? bytes[position] : nil }

  private func isSpace(_ byte: UInt8) -> Bool {
    byte == 32 || byte == 9 || byte == 10 || byte == 13
  }

  /// Skips spaces in the line.
  private mutating func skipSpaces() {
    while let byte = peek(), byte == 32 || byte == 9 { position += 1 }
  }

  private mutating func skipOne() {
    if bytes[position] == 10 {
      line += 1
      lineStart = position + 1
    }
    position += 1
  }

  private mutating func takeIf(_ character: Unicode.Scalar) -> Bool {
    guard peek() == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  private mutating func take(_ character: Unicode.Scalar, _ expected: String) throws(ImportError) {
    guard takeIf(character) else { throw error(expected) }
  }

  private var place: ImportField.Place {
    ImportField.Place(line: line, lineStart: lineStart, offset: position)
  }

  private func error(_ expected: String, advice: String? = nil) -> ImportError {
    var end = position
    while end < bytes.count, end < position + 12, bytes[end] != 10, bytes[end] != 13 { end += 1 }
    let found =
      position == bytes.count
      ? "the end of the file"
      : end == position
        ? "the end of the line" : String(decoding: bytes[position..<end], as: UTF8.self)
    return ImportError(place, in: bytes, expected: expected, found: found, advice: advice)
  }
}

extension JSONValue {
  /// A number, true, false or null; `nil` for any other text.
  init?(literal text: String) {
    switch text {
    case "null": self = .null
    case "true": self = .bool(true)
    case "false": self = .bool(false)
    default:
      if let value = Int64(text) {
        self = .integer(value)
      } else if let value = UInt64(text) {
        self = .unsigned(value)
      } else if let value = Double(text) {
        self = .double(value)
      } else {
        return nil
      }
    }
  }
}

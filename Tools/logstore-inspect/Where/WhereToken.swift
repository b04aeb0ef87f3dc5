/// A word, a value or a sign of a condition.
struct WhereToken: Equatable {
  enum Kind: Equatable {
    /// A column, or a word of the language.
    case name(String)
    case text(String)
    case integer(Int64)
    /// A whole number that is no `integer`.
    case unsigned(UInt64)
    case double(Double)
    case sign(String)
    case end
  }

  let kind: Kind
  /// The place of its beginning, in characters.
  let position: Int
  /// As it was written.
  let source: String

  /// The token in an error.
  var found: String { kind == .end ? "the end" : source }

  /// Whether it is a word of the language, in any case.
  func isWord(_ word: String) -> Bool {
    if case .name(let name) = kind { name.lowercased() == word } else { false }
  }

  func isSign(_ sign: String) -> Bool { kind == .sign(sign) }
}

/// Splits a text into tokens.
struct WhereLexer {
  private let text: String
  private let characters: [Character]
  private var position = 0

  private static let signs = [
    "...", "..<", "==", "!=", "<>", "<=", ">=", "&&", "||", "<", ">", "=", "!", "(", ")", "[", "]",
    ",", ".", "-",
  ]

  /// All tokens of a text; the last one is its end.
  static func tokens(of text: String) throws(WhereError) -> [WhereToken] {
    var lexer = WhereLexer(text)
    var tokens: [WhereToken] = []
    while true {
      let token = try lexer.next()
      tokens.append(token)
      if token.kind == .end { return tokens }
    }
  }

  private init(_ text: String) {
    self.text = text
    characters = Array(text)
  }

  private mutating func next() throws(WhereError) -> WhereToken {
    while let character = peek(), character.isWhitespace { position += 1 }
    let start = position
    guard let first = peek() else { return token(.end, from: start) }
    if first == "\"" || first == "'" { return try string(first) }
    if first == "`" { return try quotedName() }
    if first.isASCIIDigit || first == "-" && (peek(1)?.isASCIIDigit ?? false) {
      return try number()
    }
    if first.isLetter || first == "_" {
      while let character = peek(), character.isLetter || character.isNumber || character == "_" {
        position += 1
      }
      return token(.name(String(characters[start..<position])), from: start)
    }
    for sign in Self.signs where starts(with: sign) {
      position += sign.count
      return token(.sign(sign), from: start)
    }
    throw error(at: start, expected: "a column, a value, an operator or a parenthesis", "\(first)")
  }

  private mutating func string(_ quote: Character) throws(WhereError) -> WhereToken {
    let start = position
    position += 1
    var value = ""
    while let character = peek() {
      position += 1
      if character == quote { return token(.text(value), from: start) }
      if character != "\\" {
        value.append(character)
        continue
      }
      let escape = position - 1
      guard let kind = peek() else { break }
      position += 1
      switch kind {
      case "n": value.append("\n")
      case "t": value.append("\t")
      case "r": value.append("\r")
      case "0": value.append("\0")
      case "\\", "\"", "'": value.append(kind)
      case "u": value.append(try scalar(from: escape))
      default:
        throw error(at: escape, expected: #"one of \n \t \r \0 \\ \" \' \u{…}"#, "\\\(kind)")
      }
    }
    throw error(at: start, expected: "a closing \(quote)", "the end")
  }

  private mutating func scalar(from escape: Int) throws(WhereError) -> Character {
    var digits = ""
    if peek() == "{" {
      position += 1
      while let digit = peek(), digit.isHexDigit, digits.count < 8 {
        digits.append(digit)
        position += 1
      }
      if peek() == "}", let number = UInt32(digits, radix: 16),
        let scalar = Unicode.Scalar(number)
      {
        position += 1
        return Character(scalar)
      }
    }
    let end = min(position + 1, characters.count)
    throw error(
      at: escape,
      expected: #"\u{…} with the number of a character in hexadecimal"#,
      String(characters[escape..<end])
    )
  }

  /// A name between backticks: any, also one that is a word of the language.
  private mutating func quotedName() throws(WhereError) -> WhereToken {
    let start = position
    position += 1
    while let character = peek(), character != "`" {
      _ = character
      position += 1
    }
    guard peek() != nil else { throw error(at: start, expected: "a closing `", "the end") }
    position += 1
    return token(.name(String(characters[(start + 1)..<(position - 1)])), from: start)
  }

  private mutating func number() throws(WhereError) -> WhereToken {
    let start = position
    if peek() == "-" { position += 1 }
    skipDigits()
    var isInteger = true
    // Two points or three are a range.
    if peek() == ".", peek(1)?.isASCIIDigit ?? false {
      isInteger = false
      position += 1
      skipDigits()
    }
    if peek() == "e" || peek() == "E" {
      let hasSign = peek(1) == "-" || peek(1) == "+"
      if peek(hasSign ? 2 : 1)?.isASCIIDigit ?? false {
        isInteger = false
        position += hasSign ? 2 : 1
        skipDigits()
      }
    }
    if let next = peek(), next.isLetter || next == "_" {
      throw error(at: position, expected: "a number", String(characters[start...position]))
    }
    let digits = String(characters[start..<position]).replacing("_", with: "")
    if isInteger {
      if let value = Int64(digits) { return token(.integer(value), from: start) }
      guard let value = UInt64(digits) else {
        throw error(
          at: start,
          expected: "an integer from \(Int64.min) to \(UInt64.max)",
          digits
        )
      }
      return token(.unsigned(value), from: start)
    }
    guard let value = Double(digits), value.isFinite else {
      throw error(at: start, expected: "a number", digits)
    }
    return token(.double(value), from: start)
  }

  private mutating func skipDigits() {
    while let character = peek(), character.isASCIIDigit || character == "_" { position += 1 }
  }

  private func peek(_ distance: Int = 0) -> Character? {
    position + distance < characters.count ? characters[position + distance] : nil
  }

  private func starts(with sign: String) -> Bool { characters[position...].starts(with: sign) }

  private func token(_ kind: WhereToken.Kind, from start: Int) -> WhereToken {
    WhereToken(kind: kind, position: start, source: String(characters[start..<position]))
  }

  private func error(at position: Int, expected: String, _ found: String) -> WhereError {
    WhereError(text: text, position: position, expected: expected, found: found)
  }
}

extension Character {
  fileprivate var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}

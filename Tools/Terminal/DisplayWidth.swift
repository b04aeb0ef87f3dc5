extension String {
  /// How many columns the string takes on a terminal: wide characters take two, colours none.
  public var displayWidth: Int {
    var width = 0
    var isEscape = false
    for character in self {
      if isEscape {
        isEscape = character != "m"
      } else if character == "\u{1B}" {
        isEscape = true
      } else {
        width += character.isWide ? 2 : 1
      }
    }
    return width
  }

  /// The string with spaces behind it, up to a width; a longer one is returned as it is.
  public func padding(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - displayWidth))
  }

  /// The string with spaces before it, up to a width; a longer one is returned as it is.
  public func leftPadding(to width: Int) -> String {
    String(repeating: " ", count: max(0, width - displayWidth)) + self
  }

  /// The string cut off to fit a width, with an ellipsis where something is missing.
  public func clipped(to width: Int) -> String {
    if displayWidth <= width { return self }
    var clipped = ""
    var left = max(width - 1, 0)
    var isEscape = false
    var hasColour = false
    for character in self {
      if isEscape || character == "\u{1B}" {
        isEscape = character != "m"
        hasColour = true
        clipped.append(character)
        continue
      }
      left -= character.isWide ? 2 : 1
      if left < 0 { break }
      clipped.append(character)
    }
    return clipped + "…" + (hasColour ? "\u{1B}[0m" : "")
  }

  /// The string without characters that would move a terminal's cursor or change its colours.
  public var printable: String {
    if !unicodeScalars.contains(where: \.isControl) { return self }
    return unicodeScalars.reduce(into: "") { text, scalar in
      text += scalar.isControl ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
    }
  }
}

extension Character {
  /// Whether terminals give the character two columns (Unicode's East Asian Width, in the large).
  fileprivate var isWide: Bool {
    guard let value = unicodeScalars.first?.value else { return false }
    return switch value {
    case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
      0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
      true
    default: false
    }
  }
}

extension Unicode.Scalar {
  fileprivate var isControl: Bool { value < 0x20 || 0x7F...0x9F ~= value }
}

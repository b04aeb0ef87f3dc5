extension String {
  /// Number of columns of the string on a terminal: wide characters take two, colours none.
  public var displayWidth: Int {
    var width = 0
    var isEscape = false
    for character in self {
      if isEscape {
        isEscape = character != "m"
      } else if character == "\u{1B}" {
        isEscape = true
      } else {
        width += character.displayWidth
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
      left -= character.displayWidth
      if left < 0 { break }
      clipped.append(character)
    }
    return clipped + "…" + (hasColour ? "\u{1B}[0m" : "")
  }

  /// The string without characters that would move a terminal's cursor or change its colours.
  public var printable: String { replacingControls { $0.isControl } }

  /// The string as ``printable`` has it, but with its line breaks and tabs.
  public var printableLines: String {
    replacingControls { $0.isControl && $0 != "\n" && $0 != "\t" }
  }

  private func replacingControls(_ isReplaced: (Unicode.Scalar) -> Bool) -> String {
    if !unicodeScalars.contains(where: isReplaced) { return self }
    return unicodeScalars.reduce(into: "") { text, scalar in
      text += isReplaced(scalar) ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
    }
  }
}

extension Character {
  /// Number of columns of the character on terminals: two for wide ones (Unicode's East Asian Width, in the large) and
  /// none for a character that only changes a neighbour.
  public var displayWidth: Int {
    guard let scalar = unicodeScalars.first else { return 0 }
    switch scalar.value {
    case ..<0x300: return scalar.value == 0xAD ? 0 : 1
    case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
      0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F1E6...0x1F1FF, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
      return 2
    default:
      switch scalar.properties.generalCategory {
      case .nonspacingMark, .enclosingMark, .format: return 0
      default: return 1
      }
    }
  }
}

extension Unicode.Scalar {
  /// Whether a terminal would do something at the character instead of showing it.
  var isControl: Bool { value < 0x20 || 0x7F...0x9F ~= value }
}

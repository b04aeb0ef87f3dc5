/// What a text leaves open, so that more lines belong to it.
struct OpenText {
  /// The quote that is open; `nil` outside of a text or a name.
  private(set) var quote: Character?
  /// Where the open quote is, in characters.
  private(set) var quoteStart = 0
  private(set) var depth = 0

  /// Whether the next line belongs to this one.
  var needsMore: Bool { quote != nil || depth > 0 }

  init(_ text: some StringProtocol) {
    var isEscaped = false
    for (place, character) in text.enumerated() {
      if let open = quote {
        if isEscaped {
          isEscaped = false
        } else if character == "\\", open != "`" {
          isEscaped = true
        } else if character == open {
          quote = nil
        }
        continue
      }
      switch character {
      case "\"", "'", "`": (quote, quoteStart) = (character, place)
      case "(", "[": depth += 1
      case ")", "]": depth = max(depth - 1, 0)
      default: break
      }
    }
  }

  /// A text of several lines as one that means the same.
  static func joined(_ lines: [String]) -> String {
    guard var text = lines.first else { return "" }
    for line in lines.dropFirst() {
      let quote = OpenText(text).quote
      // A line break is part of a text; a name between backticks has no way to write it.
      text += (quote == nil || quote == "`" ? " " : "\\n") + line
    }
    return text
  }
}

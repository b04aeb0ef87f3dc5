/// A text that may extend over several lines, with its open quotes and parentheses, for which more lines belong to it.
struct OpenText {
  /// The lines as one that means the same.
  private(set) var text = ""
  /// The quote that is open; `nil` outside of a text or a name.
  private(set) var quote: Character?
  /// The place of the open quote, in characters.
  private(set) var quoteStart = 0
  private(set) var lineCount = 0
  private var depth = 0
  private var isEscaped = false
  /// Number of characters.
  private var count = 0

  /// Whether the next line belongs to this one.
  var needsMore: Bool { quote != nil || depth > 0 }

  /// A text without a line.
  init() {}

  /// A text of one line.
  init(_ line: some StringProtocol) { append(line) }

  /// A text of several lines.
  init(lines: [String]) {
    for line in lines { append(line) }
  }

  /// Adds a line.
  ///
  /// - Complexity: O(*n*) for a line of *n* characters, whatever the text has already.
  mutating func append(_ line: some StringProtocol) {
    // A line break is part of a text; a name between backticks has no way to write it.
    if lineCount > 0 { scan(quote == nil || quote == "`" ? " " : "\\n") }
    scan(line)
    lineCount += 1
  }

  private mutating func scan(_ part: some StringProtocol) {
    text += part
    for character in part {
      defer { count += 1 }
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
      case "\"", "'", "`": (quote, quoteStart) = (character, count)
      case "(", "[": depth += 1
      case ")", "]": depth = max(depth - 1, 0)
      default: break
      }
    }
  }
}

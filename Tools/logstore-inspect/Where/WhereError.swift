import Terminal

/// Something in a condition, or in a list of columns, that cannot be understood: where, what, and what would do.
struct WhereError: Error, Equatable {
  /// The text that was read.
  let text: String
  /// Which of its characters is the first that does not fit, from 0 on.
  let position: Int
  let expected: String
  let found: String
  var advice: String?

  /// The error as the tool prints it, with the place marked.
  func toolError(in option: String) -> ToolError {
    // One line, also of a text with line breaks: the mark stands under the character.
    let line = String(text.map { $0.isNewline || $0 == "\t" ? " " : $0 })
    let before = String(line.prefix(position))
    let mark = String(repeating: " ", count: before.displayWidth) + "^ character \(position + 1)"
    return ToolError(
      "\(option) cannot be understood",
      place: "\(line)\n\(mark)",
      expected: expected,
      found: found,
      advice: advice
    )
  }
}

import Terminal

/// A fault in a condition, or in a list of columns: its place, the text found, and the text expected.
struct WhereError: Error, Equatable {
  /// The text that was read.
  let text: String
  /// The index of the first of its characters that does not fit, from 0 on.
  let position: Int
  let expected: String
  let found: String
  var advice: String?

  /// The error as the tool prints it, with the place marked.
  func toolError(in option: String) -> ToolError {
    // One line, also of a text with line breaks: the mark is under the character.
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

import Terminal

/// Something in a file that cannot be imported, and where.
struct ImportError: Error, Equatable {
  let line: Int
  let character: Int
  /// The column it would be for.
  var column: String?
  let expected: String
  let found: String
  var advice: String?

  init(
    _ place: ImportField.Place,
    in bytes: [UInt8],
    column: String? = nil,
    expected: String,
    found: String,
    advice: String? = nil
  ) {
    line = place.line
    character = place.character(in: bytes)
    self.column = column
    self.expected = expected
    self.found = found
    self.advice = advice
  }

  func toolError(in file: String) -> ToolError {
    ToolError(
      column.map { "a value of \($0.printable) cannot be imported" }
        ?? "the file cannot be imported",
      place: "\(file), line \(line), character \(character)",
      expected: expected,
      found: found.printable,
      advice: advice
    )
  }
}

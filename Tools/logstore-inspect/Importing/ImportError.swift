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

  /// The error of a field whose bytes are no text: repaired, it would be another one.
  init(notUTF8 field: ArraySlice<UInt8>, at place: ImportField.Place, in bytes: [UInt8]) {
    self.init(
      place,
      in: bytes,
      expected: "text in UTF-8",
      found: String(decoding: field.prefix(40), as: UTF8.self),
      advice: "`iconv -t UTF-8` converts files of other encodings"
    )
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

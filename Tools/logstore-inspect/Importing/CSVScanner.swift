/// A field of a line, and its place.
struct ImportField: Equatable {
  /// The text; `nil` for nothing at all, which is null: an empty text is between quotes.
  let text: String?
  let place: Place
  /// Whether it is a number, true or false of JSON, and no text.
  var isLiteral = false
  /// The value of JSON, if that is a list or an object.
  var nested: JSONValue?

  /// A place in a file.
  struct Place: Equatable {
    /// From 1 on.
    let line: Int
    /// The beginning of the line, in bytes of the file.
    let lineStart: Int
    /// The beginning of the field, in bytes of the file.
    let offset: Int

    /// The number of the character in its line, from 1 on.
    func character(in bytes: [UInt8]) -> Int {
      String(decoding: bytes[lineStart..<min(max(offset, lineStart), bytes.count)], as: UTF8.self)
        .count + 1
    }
  }
}

/// Parses comma-separated values (RFC 4180): fields in quotes may hold commas, quotes and line breaks.
struct CSVScanner {
  private let bytes: [UInt8]
  private var position = 0
  private var line = 1
  private var lineStart = 0
  /// Whether the first line has one field: then an empty line has one, too, which is null.
  private var hasOneColumn: Bool?

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    // A mark of byte order, as spreadsheets write it.
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
      position = 3
      lineStart = 3
    }
  }

  /// The fields of the next line, or of the next that is not empty where lines have several; `nil` at the end.
  ///
  /// - Throws: ``ImportError`` for quotes that are not closed, or that something follows.
  mutating func next() throws(ImportError) -> [ImportField]? {
    while position < bytes.count, bytes[position] == 10 || bytes[position] == 13 {
      breakLine()
      // This is the end of the line before.
      if hasOneColumn == true { break }
    }
    guard position < bytes.count else { return nil }
    var fields = [try field()]
    while position < bytes.count, bytes[position] == UInt8(ascii: ",") {
      position += 1
      fields.append(try field())
    }
    hasOneColumn = hasOneColumn ?? (fields.count == 1)
    return fields
  }

  private mutating func breakLine() {
    // A carriage return and a line feed are one break.
    if bytes[position] == 13, position + 1 < bytes.count, bytes[position + 1] == 10 {
      position += 1
    }
    position += 1
    line += 1
    lineStart = position
  }

  private mutating func field() throws(ImportError) -> ImportField {
    let place = place
    guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
      let start = position
      while position < bytes.count, ![10, 13, UInt8(ascii: ",")].contains(bytes[position]) {
        position += 1
      }
      let text = start == position ? nil : try text(of: bytes[start..<position], at: place)
      return ImportField(text: text, place: place)
    }
    position += 1
    var text: [UInt8] = []
    while position < bytes.count {
      let byte = bytes[position]
      if byte == UInt8(ascii: "\"") {
        position += 1
        if position < bytes.count, bytes[position] == byte {
          text.append(byte)
          position += 1
          continue
        }
        if position < bytes.count, ![10, 13, UInt8(ascii: ",")].contains(bytes[position]) {
          var end = position
          while end < bytes.count, end < position + 12, bytes[end] != 10, bytes[end] != 13 {
            end += 1
          }
          throw ImportError(
            self.place,
            in: bytes,
            expected: "a comma or the end of the line behind the closing quote",
            found: String(decoding: bytes[position..<end], as: UTF8.self)
          )
        }
        return ImportField(text: try self.text(of: text[...], at: place), place: place)
      }
      if byte == 10 || byte == 13 {
        let start = position
        breakLine()
        text += bytes[start..<position]
        continue
      }
      text.append(byte)
      position += 1
    }
    throw ImportError(
      place,
      in: bytes,
      expected: "a closing quote",
      found: "the end of the file"
    )
  }

  private func text(
    of field: ArraySlice<UInt8>,
    at place: ImportField.Place
  ) throws(ImportError) -> String {
    if let text = String(validating: field, as: UTF8.self) { return text }
    throw ImportError(notUTF8: field, at: place, in: bytes)
  }

  private var place: ImportField.Place {
    ImportField.Place(line: line, lineStart: lineStart, offset: position)
  }
}

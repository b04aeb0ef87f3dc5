/// Walks the records of a CSV file (RFC 4180) over its bytes.
///
///     while let record = reader.next() {
///       switch record { case .fields: use(reader.text(0)) … }
///     }
///
/// Quotes, doubled quotes, commas and line ends inside quotes, `\n` and `\r\n`, a byte order mark and
/// a last line without an end are all understood; empty lines are passed over. Nothing is allocated for
/// a record: its fields are offsets into the bytes until one is asked for as text.
struct CSVReader {
  /// The kind of the lines that were read.
  enum Record: Equatable {
    /// A record; its fields can be read until the next call.
    case fields
    /// Lines that are not a record, with the reason; the reader continues after them.
    case malformed(String)
  }

  /// The range of a field's bytes, without its quotes.
  private struct Field {
    var range: Range<Int>
    var hasDoubledQuotes = false
  }

  private let bytes: [UInt8]
  private var offset: Int
  private var nextLine = 1
  private var fields: [Field] = []
  /// The line on which the current record starts; the first line of a file is 1.
  private(set) var line = 1

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    offset = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
  }

  /// Number of fields of the current record.
  var count: Int { fields.count }

  /// Number of bytes of the file that have been read.
  var bytesRead: Int { offset }

  /// Moves to the next record, or returns `nil` at the end of the file.
  mutating func next() -> Record? {
    skipEmptyLines()
    guard offset < bytes.count else { return nil }
    line = nextLine
    fields.removeAll(keepingCapacity: true)
    while true {
      if let problem = readField() {
        skipLine()
        return .malformed(problem)
      }
      guard offset < bytes.count else { break }
      let separator = bytes[offset]
      offset += 1
      if separator == .comma { continue }
      if separator == .carriageReturn, offset < bytes.count, bytes[offset] == .newline {
        offset += 1
      }
      break
    }
    nextLine += 1
    return .fields
  }

  // MARK: Reading

  private mutating func skipEmptyLines() {
    while offset < bytes.count, bytes[offset] == .newline || bytes[offset] == .carriageReturn {
      if bytes[offset] == .newline || offset + 1 == bytes.count || bytes[offset + 1] != .newline {
        nextLine += 1
      }
      offset += 1
    }
  }

  private mutating func skipLine() {
    offset = bytes[offset...].firstIndex(of: .newline).map { $0 + 1 } ?? bytes.count
    nextLine += 1
  }

  /// Reads one field and stops at its terminator; returns a description of its fault, if any.
  private mutating func readField() -> String? {
    if offset < bytes.count, bytes[offset] == .quote { return readQuotedField() }
    let start = offset
    while offset < bytes.count {
      let byte = bytes[offset]
      // One comparison lets nearly every byte pass: the four that matter are below the letters and
      // digits.
      if byte <= .comma {
        if byte == .comma || byte == .newline || byte == .carriageReturn { break }
        if byte == .quote { return "a quote in the middle of a field that does not start with one" }
      }
      offset += 1
    }
    fields.append(Field(range: start..<offset))
    return nil
  }

  private mutating func readQuotedField() -> String? {
    let start = offset
    var field = Field(range: start..<start)
    var lines = 0
    offset += 1
    while offset < bytes.count {
      let byte = bytes[offset]
      if byte == .newline { lines += 1 }
      guard byte == .quote else {
        offset += 1
        continue
      }
      if offset + 1 < bytes.count, bytes[offset + 1] == .quote {
        field.hasDoubledQuotes = true
        offset += 2
        continue
      }
      field.range = (start + 1)..<offset
      offset += 1
      nextLine += lines
      fields.append(field)
      guard offset == bytes.count || bytes[offset].endsField else {
        return "text behind the closing quote of a field"
      }
      return nil
    }
    // Continue after the line of the stray quote: one quote must not swallow the rest of the file.
    offset = start
    return "a quote that is never closed"
  }
}

// MARK: Fields

extension CSVReader {
  /// Whether a field holds no value: it is empty, `NA`, or not there at all.
  func isMissing(_ column: Int) -> Bool {
    guard column < fields.count else { return true }
    let range = fields[column].range
    return range.isEmpty
      || (range.count == 2 && bytes[range.lowerBound] == UInt8(ascii: "N")
        && bytes[range.lowerBound + 1] == UInt8(ascii: "A"))
  }

  /// The bytes of a field as they are in the file, without surrounding quotes.
  func raw(_ column: Int) -> ArraySlice<UInt8> {
    column < fields.count ? bytes[fields[column].range] : []
  }

  /// A field as text; bytes that are not UTF-8 come out repaired.
  func text(_ column: Int) -> String {
    let text = String(decoding: raw(column), as: UTF8.self)
    guard column < fields.count, fields[column].hasDoubledQuotes else { return text }
    return text.replacing("\"\"", with: "\"")
  }
}

extension UInt8 {
  fileprivate static let quote = UInt8(ascii: "\"")
  fileprivate static let comma = UInt8(ascii: ",")
  fileprivate static let newline = UInt8(ascii: "\n")
  fileprivate static let carriageReturn = UInt8(ascii: "\r")

  fileprivate var endsField: Bool {
    self == .comma || self == .newline || self == .carriageReturn
  }
}

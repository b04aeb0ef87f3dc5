import LogEngine
import RowFormat

/// Writes values of rows as fields of CSV: the same bytes as ``JSONValue/csvField``, without a value in between for the
/// types that most columns have.
struct CSVRowWriter {
  /// The lines that are not taken yet.
  private(set) var bytes: [UInt8] = []
  private let tableName: (UInt16) -> String
  /// The beginnings of references to each table; `nil` if the field needs quotes.
  private var prefixes: [UInt16: [UInt8]?] = [:]

  init(tableName: @escaping (UInt16) -> String) { self.tableName = tableName }

  /// Removes the lines, and keeps their memory.
  mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  /// Appends a row as a line.
  ///
  /// - Parameters:
  ///   - columns: The columns, in the order of the fields.
  ///   - reader: Reads the columns; it is prepared for the row's layout.
  ///   - key: The row's key.
  ///   - row: The row.
  mutating func append(
    _ columns: [Int],
    of reader: ColumnReader,
    _ key: UInt64,
    _ row: RawSpan
  ) {
    for (index, column) in columns.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      switch reader.source(of: column) {
      case .key: append(Int64(bitPattern: key))
      case .row(let place, let layout): append(place, of: row, layout, reader.numbers(column))
      case .fill(let fill, let layout):
        append(0, of: fill.span.bytes, layout, reader.numbers(column))
      case .nothing: break
      }
    }
    bytes.append(UInt8(ascii: "\n"))
  }

  private mutating func append(
    _ column: Int,
    of row: RawSpan,
    _ layout: RowLayout,
    _ numbers: NumberType?
  ) {
    if layout.isNull(column, in: row) { return }
    switch layout.types[column] {
    case .integer where numbers.isUnsignedInFull:
      append(UInt64(bitPattern: layout.integer(column, in: row)))
    case .integer: append(layout.integer(column, in: row))
    case .double:
      let value = layout.double(column, in: row)
      if !value.isFinite { return appendAny(column, of: row, layout) }
      bytes.append(contentsOf: (numbers?.shown(value) ?? value).description.utf8)
    case .bool: bytes.append(contentsOf: (layout.bool(column, in: row) ? "true" : "false").utf8)
    case .date: Timestamp(seconds: layout.double(column, in: row)).write(to: &bytes)
    case .reference: append(layout.reference(column, in: row), column, of: row, layout)
    case .text:
      let text = row.extracting(layout.range(column, in: row))
      let isPlain = text.withUnsafeBytes { text in
        !text.isEmpty && text.allSatisfy(\.isPlainInCSV)
      }
      if !isPlain { return appendAny(column, of: row, layout) }
      text.withUnsafeBytes { bytes.append(contentsOf: $0) }
    case .uuid, .references, .bytes, .blob, .structured: appendAny(column, of: row, layout)
    }
  }

  /// Appends a value of any type, by way of its JSON for programs.
  private mutating func appendAny(_ column: Int, of row: RawSpan, _ layout: RowLayout) {
    let cell = CellValue(column, of: row, layout: layout, limit: .max, tableName: tableName)
    bytes.append(contentsOf: cell.exported.csvField.utf8)
  }

  private mutating func append(
    _ reference: RowReference,
    _ column: Int,
    of row: RawSpan,
    _ layout: RowLayout
  ) {
    if reference == .none { return appendAny(column, of: row, layout) }
    if prefixes[reference.table] == nil {
      let prefix = Array("\(tableName(reference.table))/".utf8)
      prefixes[reference.table] = .some(prefix.allSatisfy(\.isPlainInCSV) ? prefix : nil)
    }
    guard let prefix = prefixes[reference.table] ?? nil else {
      return appendAny(column, of: row, layout)
    }
    bytes.append(contentsOf: prefix)
    append(reference.key)
  }

  private mutating func append(_ value: Int64) {
    if value < 0 { bytes.append(UInt8(ascii: "-")) }
    append(value.magnitude)
  }

  private mutating func append(_ value: UInt64) { bytes.append(decimal: value) }
}

extension UInt8 {
  /// Whether a byte of a text is itself in a field without quotes, and part of a text that needs no repair.
  fileprivate var isPlainInCSV: Bool {
    self < 0x80 && self != UInt8(ascii: "\"") && self != UInt8(ascii: ",")
      && self != UInt8(ascii: "\n") && self != UInt8(ascii: "\r")
  }
}

extension [UInt8] {
  /// Appends a number in decimal digits.
  mutating func append(decimal value: UInt64) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
      var value = value
      var first = digits.count
      repeat {
        first -= 1
        digits[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value % 10)
        value /= 10
      } while value > 0
      append(contentsOf: digits[first...])
    }
  }
}

extension CellValue {
  /// The whole value: bytes are in hexadecimal.
  var exported: JSONValue {
    switch self {
    case .binary(_, let hexadecimal): .string(hexadecimal)
    default: json
    }
  }
}

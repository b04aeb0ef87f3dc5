import RowFormat
import Terminal

/// One column of one row, as it is shown.
enum CellValue: Equatable {
  case null
  /// A list that is stored with its members.
  case membersElsewhere
  case integer(Int64)
  /// A whole number that needs all 64 bits; smaller ones are `integer`, whatever their type.
  case unsigned(UInt64)
  case double(Double)
  case bool(Bool)
  case date(Timestamp)
  case uuid(String)
  /// Another row, as `Entity/key`.
  case reference(String)
  case references([String])
  case text(String)
  /// The number of bytes, and the first of them in hexadecimal.
  case binary(count: Int, prefix: String)
  /// A value in a file of its own.
  case blob(BlobReference)
  case structured(JSONValue)

  /// Number of bytes of a binary value that are shown, unless all are asked for.
  static let prefixByteCount = 16

  /// Reads a column.
  ///
  /// - Parameters:
  ///   - column: Its place in the row.
  ///   - row: The row's bytes.
  ///   - layout: The layout they are in.
  ///   - numbers: The type of its numbers, if it is known.
  ///   - limit: The number of bytes that are kept of a binary value.
  ///   - name: Gives the name of a table, for references.
  init(
    _ column: Int,
    of row: RawSpan,
    layout: RowLayout,
    numbers: NumberType? = nil,
    limit: Int = prefixByteCount,
    tableName name: (UInt16) -> String
  ) {
    if layout.isNull(column, in: row) {
      self = .null(of: layout.types[column])
      return
    }
    switch layout.types[column] {
    case .integer:
      let value = layout.integer(column, in: row)
      self =
        numbers.isUnsignedInFull && value < 0
        ? .unsigned(UInt64(bitPattern: value)) : .integer(value)
    case .double:
      let value = layout.double(column, in: row)
      self = .double(numbers?.shown(value) ?? value)
    case .bool: self = .bool(layout.bool(column, in: row))
    case .date: self = .date(Timestamp(seconds: layout.double(column, in: row)))
    case .uuid: self = .uuid(Self.text(ofUUID: layout.uuid(column, in: row)))
    case .reference:
      self = .reference(Self.text(of: layout.reference(column, in: row), name))
    case .references:
      self = .references(layout.references(column, in: row).map { Self.text(of: $0, name) })
    case .text: self = .text(layout.text(column, in: row))
    case .bytes: self = .bytes(row.extracting(layout.range(column, in: row)), limit: limit)
    case .blob:
      switch layout.blob(column, in: row) {
      case .external(let reference): self = .blob(reference)
      case .inline(let range): self = .bytes(row.extracting(range), limit: limit)
      case nil: self = .bytes(row.extracting(layout.range(column, in: row)), limit: limit)
      }
    case .structured:
      let bytes = row.extracting(layout.range(column, in: row))
      self =
        StructuredValue.decode(bytes, limit: limit).map(CellValue.structured)
        ?? .bytes(bytes, limit: limit)
    }
  }

  /// The value of a column that is null: an empty list is one of no references, and a null one is kept at
  /// the other end of the relationship.
  static func null(of type: ColumnType) -> CellValue {
    type == .references ? .membersElsewhere : .null
  }

  /// Bytes that no type explains.
  static func bytes(_ bytes: RawSpan, limit: Int = prefixByteCount) -> CellValue {
    let shown = min(bytes.byteCount, limit)
    let prefix = (0..<shown).map { bytes.load(UInt8.self, at: $0).hexadecimal }.joined()
    return .binary(count: bytes.byteCount, prefix: prefix)
  }

  private static func text(of reference: RowReference, _ name: (UInt16) -> String) -> String {
    reference == .none ? "none" : "\(name(reference.table))/\(reference.key)"
  }

  static func text(ofUUID words: (UInt64, UInt64)) -> String {
    var text = ""
    for index in 0..<16 {
      if [4, 6, 8, 10].contains(index) { text += "-" }
      let word = index < 8 ? words.0 : words.1
      text += UInt8(truncatingIfNeeded: word >> UInt64(index % 8 * 8)).hexadecimal.uppercased()
    }
    return text
  }
}

// MARK: Printing

extension CellValue {
  /// The value for people, in one line.
  var text: String {
    switch self {
    case .null: "–"
    case .membersElsewhere: "(its members refer to it)"
    case .integer(let value): "\(value)"
    case .unsigned(let value): "\(value)"
    case .double(let value): "\(value)"
    case .bool(let value): value ? "true" : "false"
    case .date(let value): "\(value)"
    case .uuid(let value), .reference(let value): value
    case .references(let values): "[\(values.joined(separator: ", "))]"
    case .text(let value): JSONValue.string(value).text
    case .binary(let count, let prefix):
      "\(count) bytes \(prefix)\(count * 2 > prefix.count ? "…" : "")"
    case .blob(let reference): "blob \(reference.id.rawValue), \(reference.byteCount.byteCount)"
    case .structured(let value): value.text
    }
  }

  /// The value for programs.
  var json: JSONValue {
    switch self {
    case .null, .membersElsewhere: .null
    case .integer(let value): .integer(value)
    case .unsigned(let value): .unsigned(value)
    case .double(let value): .double(value)
    case .bool(let value): .bool(value)
    case .date(let value): .string("\(value)")
    case .uuid(let value), .reference(let value), .text(let value): .string(value)
    case .references(let values): .array(values.map(JSONValue.string))
    case .binary(let count, let prefix):
      ["bytes": .integer(Int64(count)), "hex": .string(prefix)]
    case .blob(let reference):
      ["blob": .unsigned(reference.id.rawValue), "bytes": .integer(Int64(reference.byteCount))]
    case .structured(let value): value
    }
  }
}

extension RawSpan {
  /// The bytes as text; bytes that are not UTF-8 come out repaired.
  var text: String {
    String(decoding: (0..<byteCount).map { load(UInt8.self, at: $0) }, as: UTF8.self)
  }
}

extension UInt8 {
  fileprivate var hexadecimal: String {
    let digits = String(self, radix: 16)
    return digits.count == 1 ? "0" + digits : digits
  }
}

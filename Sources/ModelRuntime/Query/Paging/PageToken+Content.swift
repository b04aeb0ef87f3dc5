import Foundation

/// The content of a token.
///
/// The text is base64 with "-" and "_" for "+" and "/", and without padding, of these bytes; integers are little-endian,
/// and a *number* is 7 bits a byte, the lowest first, bit 7 set in all bytes but the last:
///
///     size  field
///        1  version       1
///        4  check         FNV-1a of all that follows
///        4  entity        FNV-1a of the entity's name
///        4  sort          FNV-1a of the sort keys: `PageSort.fingerprint`
///           count         of sort keys: a number
///           for each key:
///        1    kind        0 nil, 1 integer, 2 double or date, 3 UUID, 4 text; bit 7 set if descending
///             value       none; a number, zigzag; 8 bytes; 16 bytes; a number of bytes, and the bytes in UTF-8
///        1  row           0 a row's number, 1 a store's own key, 2 an unsaved model
///           name          of the row's entity: a number of bytes, and the bytes; none if it is the token's entity
///           key           a number; a number of bytes, and the bytes; a number
struct PageTokenContent: Equatable {
  /// The identity of the token's last model.
  enum Row: Equatable {
    case number(UInt64)
    case text(String)
    case unsaved(UInt64)
  }

  struct Value: Equatable {
    let value: QueryValue
    let isDescending: Bool
  }

  let entity: UInt32
  let sort: UInt32
  let values: [Value]
  /// The name of the model's entity; empty if it is the token's.
  let rowEntity: String
  let row: Row

  static let version: UInt8 = 1
}

// MARK: Writing

extension PageToken {
  init(_ content: PageTokenContent) {
    var body: [UInt8] = []
    body.append(integer: content.entity)
    body.append(integer: content.sort)
    body.append(number: UInt64(content.values.count))
    for value in content.values { body.append(value) }
    switch content.row {
    case .number: body.append(0)
    case .text: body.append(1)
    case .unsaved: body.append(2)
    }
    body.append(text: content.rowEntity)
    switch content.row {
    case .number(let key), .unsaved(let key): body.append(number: key)
    case .text(let key): body.append(text: key)
    }
    var hash = FingerprintHash()
    hash.combine(body)
    var bytes = [PageTokenContent.version]
    bytes.append(integer: hash.value)
    self.init(
      Data(bytes + body).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
        .replacing("=", with: "")
    )
  }
}

extension [UInt8] {
  fileprivate mutating func append(integer: some FixedWidthInteger) {
    for shift in stride(from: 0, to: integer.bitWidth, by: 8) {
      append(UInt8(truncatingIfNeeded: integer >> shift))
    }
  }

  fileprivate mutating func append(number: UInt64) {
    var rest = number
    while rest > 0x7F {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(rest))
  }

  fileprivate mutating func append(text: String) {
    append(number: UInt64(text.utf8.count))
    append(contentsOf: text.utf8)
  }

  fileprivate mutating func append(_ value: PageTokenContent.Value) {
    let order: UInt8 = value.isDescending ? 0x80 : 0
    switch value.value {
    case .integer(let integer):
      append(1 | order)
      append(number: UInt64(bitPattern: integer << 1 ^ integer >> 63))
    case .double(let double):
      append(2 | order)
      append(integer: double.bitPattern)
    case .uuid(let uuid):
      append(3 | order)
      append(integer: uuid.low)
      append(integer: uuid.high)
    case .text(let text):
      append(4 | order)
      append(text: text)
    case .null: append(order)
    case .bool, .bytes, .identifier, .reference, .opaque:
      preconditionFailure("\(value.value) is the value of no sort key")
    }
  }
}

// MARK: Reading

extension PageTokenContent {
  /// Reads a token.
  ///
  /// - Throws: ``PageError/malformedToken(expected:found:)``.
  init(_ token: PageToken) throws(PageError) {
    let text = token.rawValue
    let standard = text.replacing("-", with: "+").replacing("_", with: "/")
    let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    guard !text.isEmpty, !text.contains(where: { "+/=".contains($0) }),
      let data = Data(base64Encoded: standard + padding)
    else {
      throw .malformedToken(expected: "letters, digits, - and _", found: Self.shown(text))
    }
    var reader = Reader(bytes: Array(data))
    let version = try reader.byte("a version")
    guard version == Self.version else {
      throw .malformedToken(expected: "version \(Self.version)", found: "version \(version)")
    }
    let check = try reader.integer(UInt32.self, "a check sum")
    var hash = FingerprintHash()
    hash.combine(reader.rest)
    guard check == hash.value else {
      throw .malformedToken(
        expected: "the check sum \(String(hash.value, radix: 16))",
        found: "\(String(check, radix: 16)) in \(Self.shown(text))"
      )
    }
    entity = try reader.integer(UInt32.self, "an entity")
    sort = try reader.integer(UInt32.self, "a sort")
    let count = try reader.number("a number of sort keys")
    guard count <= UInt64(reader.rest.count) else {
      throw .malformedToken(
        expected: "\(count) sort keys",
        found: "\(reader.rest.count) more bytes"
      )
    }
    var values: [Value] = []
    for _ in 0..<count { values.append(try reader.value()) }
    self.values = values
    let kind = try reader.byte("a kind of row")
    rowEntity = try reader.text("the name of an entity")
    switch kind {
    case 0: row = .number(try reader.number("a row"))
    case 1: row = .text(try reader.text("a key"))
    case 2: row = .unsaved(try reader.number("an unsaved model"))
    default: throw .malformedToken(expected: "a kind of row from 0 to 2", found: "\(kind)")
    }
    guard reader.rest.isEmpty else {
      throw .malformedToken(expected: "the end", found: "\(reader.rest.count) more bytes")
    }
    // Each content has exactly one text.
    guard PageToken(self) == token else {
      throw .malformedToken(expected: PageToken(self).rawValue, found: Self.shown(text))
    }
  }

  private static func shown(_ text: String) -> String {
    text.count > 100 ? "\"\(text.prefix(100))…\" of \(text.count) characters" : "\"\(text)\""
  }

  private struct Reader {
    var rest: ArraySlice<UInt8>

    init(bytes: [UInt8]) { rest = bytes[...] }

    mutating func bytes(_ count: Int, _ wanted: String) throws(PageError) -> ArraySlice<UInt8> {
      guard count <= rest.count else {
        throw .malformedToken(
          expected: "\(count) bytes of \(wanted)",
          found: "\(rest.count) bytes before the end"
        )
      }
      defer { rest = rest.dropFirst(count) }
      return rest.prefix(count)
    }

    mutating func byte(_ wanted: String) throws(PageError) -> UInt8 {
      let bytes = try bytes(1, wanted)
      return bytes[bytes.startIndex]
    }

    mutating func integer<T: FixedWidthInteger>(_: T.Type, _ wanted: String) throws(PageError) -> T
    {
      var value: T = 0
      for byte in try bytes(T.bitWidth / 8, wanted).reversed() {
        value = value << 8 | T(truncatingIfNeeded: byte)
      }
      return value
    }

    mutating func number(_ wanted: String) throws(PageError) -> UInt64 {
      var value: UInt64 = 0
      for shift in stride(from: 0, to: 64, by: 7) {
        let byte = try byte(wanted)
        value |= UInt64(byte & 0x7F) << UInt64(shift)
        if byte & 0x80 == 0 { return value }
      }
      throw .malformedToken(expected: "\(wanted) of 64 bits", found: "a longer number")
    }

    mutating func text(_ wanted: String) throws(PageError) -> String {
      let count = try number("the length of \(wanted)")
      let bytes = try bytes(Int(clamping: count), wanted)
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw .malformedToken(expected: "\(wanted) in UTF-8", found: "other bytes")
      }
      return text
    }

    mutating func value() throws(PageError) -> Value {
      let kind = try byte("a kind of value")
      let value: QueryValue
      switch kind & 0x7F {
      case 0: value = .null
      case 1:
        let bits = try number("an integer")
        value = .integer(Int64(bitPattern: bits >> 1) ^ -Int64(bitPattern: bits & 1))
      case 2: value = .double(Double(bitPattern: try integer(UInt64.self, "a double")))
      case 3:
        let low = try integer(UInt64.self, "a UUID")
        value = .uuid(QueryUUID(low, try integer(UInt64.self, "a UUID")))
      case 4: value = .text(try text("a text"))
      default:
        throw .malformedToken(expected: "a kind of value from 0 to 4", found: "\(kind & 0x7F)")
      }
      return Value(value: value, isDescending: kind & 0x80 != 0)
    }
  }
}

// MARK: Checking

extension PageTokenContent {
  /// Returns the values of the sort keys, if the token matches an order.
  ///
  /// - Parameters:
  ///   - sort: The order.
  ///   - entityNames: The names of all entities, among which the token's is looked up for the error.
  /// - Returns: The values.
  /// - Throws: ``PageError``.
  func values<T>(for sort: PageSort<T>, _ entityNames: some Sequence<String>) throws(PageError)
    -> [QueryValue]
  {
    let expected = ModelDescriptor.of(T.self).entityName
    guard entity == Self.hash(of: expected) else {
      throw .otherEntity(
        expected: expected,
        found: entityNames.first { Self.hash(of: $0) == entity }
          ?? "an entity that is not known here"
      )
    }
    guard self.sort == sort.fingerprint, values.count == sort.ordering.keys.count,
      zip(values, sort.ordering.keys).allSatisfy({ $0.isValue(of: $1) })
    else {
      let keys = values.map(\.description).joined(separator: ", ")
      throw .otherSort(
        expected: "\(sort)",
        found: values.isEmpty
          ? "\(expected) without sort keys" : "\(expected) by other keys: \(keys)"
      )
    }
    return values.map(\.value)
  }

  static func hash(of entityName: String) -> UInt32 {
    var hash = FingerprintHash()
    hash.combine(entityName)
    return hash.value
  }
}

extension PageTokenContent.Value: CustomStringConvertible {
  /// Whether a sort key can have the value.
  fileprivate func isValue(of key: RowOrdering.Key) -> Bool {
    guard case .column(_, let reading) = key.source, isDescending == (key.order == .reverse) else {
      return false
    }
    switch (value, reading.kind) {
    case (.null, _), (.integer, .integer), (.integer, .unsigned), (.double, .double),
      (.double, .float), (.double, .date), (.uuid, .uuid), (.text, .text):
      return true
    default: return false
    }
  }

  var description: String {
    let kind =
      switch value {
      case .null: "nil"
      case .integer: "an integer"
      case .double: "a number or date"
      case .uuid: "a UUID"
      case .text: "a text"
      default: "\(value)"
      }
    return isDescending ? "\(kind) descending" : kind
  }
}

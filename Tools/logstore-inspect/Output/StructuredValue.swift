import RowFormat

/// A structured column read without the type that was stored: CBOR (RFC 8949) as JSON.
///
/// Byte strings become their length and first bytes, keys that are no text become text, and tags are
/// passed over.
struct StructuredValue {
  private var cursor: ByteCursor
  /// Number of bytes that are kept of a byte string.
  private let limit: Int
  /// Nesting beyond this is taken for damage, as it would cost the stack.
  private static let depthLimit = 64

  /// Decodes a whole column, or returns `nil` if its bytes are not CBOR.
  static func decode(
    _ bytes: RawSpan,
    limit: Int = CellValue.prefixByteCount
  ) -> JSONValue? {
    var decoder = StructuredValue(cursor: ByteCursor(0..<bytes.byteCount), limit: limit)
    guard let value = decoder.value(in: bytes, depth: 0), decoder.cursor.remaining == 0 else {
      return nil
    }
    return value
  }

  private mutating func value(in bytes: RawSpan, depth: Int) -> JSONValue? {
    guard depth < Self.depthLimit, let initial = cursor.integer(UInt8.self, in: bytes) else {
      return nil
    }
    let kind = initial >> 5
    let low = initial & 0x1F
    if kind == 7 { return simple(low, in: bytes) }
    if low == 31 { return indefinite(kind, in: bytes, depth: depth) }
    guard let argument = argument(low, in: bytes) else { return nil }
    switch kind {
    case 0: return Int64(exactly: argument).map(JSONValue.integer) ?? .unsigned(argument)
    case 1:
      return Int64(exactly: argument).map { .integer(-1 - $0) } ?? .string("-1-\(argument)")
    case 2:
      guard let range = take(argument) else { return nil }
      return CellValue.bytes(bytes.extracting(range), limit: limit).json
    case 3:
      guard let range = take(argument) else { return nil }
      return .string(bytes.extracting(range).text)
    case 4, 5: return elements(kind, count: argument, in: bytes, depth: depth)
    default: return value(in: bytes, depth: depth + 1)
    }
  }

  /// The argument of an item, which is in its first byte or behind it.
  private mutating func argument(_ low: UInt8, in bytes: RawSpan) -> UInt64? {
    switch low {
    case ..<24: UInt64(low)
    case 24: cursor.integer(UInt8.self, in: bytes).map(UInt64.init)
    case 25: cursor.integer(UInt16.self, in: bytes).map { UInt64($0.byteSwapped) }
    case 26: cursor.integer(UInt32.self, in: bytes).map { UInt64($0.byteSwapped) }
    case 27: cursor.integer(UInt64.self, in: bytes).map(\.byteSwapped)
    default: nil
    }
  }

  private mutating func take(_ count: UInt64) -> Range<Int>? {
    Int(exactly: count).flatMap { cursor.take($0) }
  }

  private mutating func elements(
    _ kind: UInt8,
    count: UInt64,
    in bytes: RawSpan,
    depth: Int
  ) -> JSONValue? {
    var values: [JSONValue] = []
    // A count that the bytes cannot hold is damage; it must not be believed before they are read.
    guard count <= UInt64(cursor.remaining) else { return nil }
    for _ in 0..<(kind == 5 ? 2 * count : count) {
      guard let value = value(in: bytes, depth: depth + 1) else { return nil }
      values.append(value)
    }
    return kind == 4 ? .array(values) : Self.object(values)
  }

  /// Elements up to a mark instead of by number.
  private mutating func indefinite(_ kind: UInt8, in bytes: RawSpan, depth: Int) -> JSONValue? {
    guard 2...5 ~= kind else { return nil }
    var values: [JSONValue] = []
    while cursor.remaining > 0, bytes.load(UInt8.self, at: cursor.offset) != 0xFF {
      guard let value = value(in: bytes, depth: depth + 1) else { return nil }
      values.append(value)
    }
    guard cursor.take(1) != nil else { return nil }
    switch kind {
    case 4: return .array(values)
    case 5: return values.count % 2 == 0 ? Self.object(values) : nil
    default: return .array(values)
    }
  }

  private mutating func simple(_ low: UInt8, in bytes: RawSpan) -> JSONValue? {
    switch low {
    case 20: .bool(false)
    case 21: .bool(true)
    case 22, 23: .null
    case 25: cursor.integer(UInt16.self, in: bytes).map { .double(Self.half($0.byteSwapped)) }
    case 26:
      cursor.integer(UInt32.self, in: bytes)
        .map { .double(Double(Float(bitPattern: $0.byteSwapped))) }
    case 27:
      cursor.integer(UInt64.self, in: bytes).map { .double(Double(bitPattern: $0.byteSwapped)) }
    default: nil
    }
  }

  /// A 16-bit float, widened by hand: `Float16` is not there on every platform.
  private static func half(_ bits: UInt16) -> Double {
    let fraction = Double(bits & 0x3FF)
    let magnitude: Double =
      switch bits >> 10 & 0x1F {
      case 0: fraction * 0x1p-24
      case 31: fraction == 0 ? .infinity : .nan
      case let exponent:
        (fraction + 1024) * Double(sign: .plus, exponent: Int(exponent) - 25, significand: 1)
      }
    return bits >> 15 == 0 ? magnitude : -magnitude
  }

  private static func object(_ values: [JSONValue]) -> JSONValue {
    .object(
      stride(from: 0, to: values.count - 1, by: 2).map { index in
        let name = if case .string(let text) = values[index] { text } else { values[index].text }
        return JSONValue.Member(name: name, value: values[index + 1])
      }
    )
  }
}

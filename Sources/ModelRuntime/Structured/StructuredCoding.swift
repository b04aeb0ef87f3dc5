public import RowFormat

/// Composite values as bytes: any `Codable` type, field by field and by name, in CBOR (RFC 8949).
public enum StructuredCoding {
  /// What encoding a value came to.
  public enum Outcome: Sendable {
    /// Bytes were appended.
    case value
    /// The value is `nil`; nothing was appended.
    case null
  }
}
extension StructuredCoding {
  static func encode<T: Encodable>(_ value: T, into: inout ByteBuffer) throws -> Outcome { .null }
  static func decode<T: Decodable>(_ type: T.Type, from bytes: RawSpan) throws -> T { fatalError() }
}

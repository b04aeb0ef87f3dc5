package import RowFormat

/// Composite values as bytes: any `Codable` type, field by field and by name, in CBOR (RFC 8949).
///
/// The format, readable by any CBOR decoder:
///
///     keyed container      map of definite length, keys as text, in the order they are encoded
///     unkeyed container    array of definite length
///     nil                  null
///     integers             major types 0 and 1, the shortest form
///     Float, Double        four and eight bytes
///     Data                 byte string
///     UUID                 tag 37, sixteen bytes
///     URL                  tag 32, text
///     Date                 tag 2001, the seconds since 2001-01-01T00:00:00Z in eight bytes
///     Decimal              text
///
/// The registered tag for dates counts from 1970, and cannot hold the values of Foundation's `Date`
/// without rounding. Everything else is as the type's own `encode(to:)` writes it.
public enum StructuredCoding {
  /// The outcome of encoding a value.
  public enum Outcome: Sendable {
    /// Bytes were appended.
    case value
    /// The value is encoded as nil, which its type has; nothing was appended.
    case null
  }

  /// The number of containers that may be nested.
  ///
  /// Decoding recurses, and bytes from a disk must not be able to exhaust the stack.
  static let depthLimit = 128

  /// Appends a value.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - buffer: The buffer to append to; unchanged if the value is nil or cannot be encoded.
  /// - Returns: Whether there was a value to append.
  /// - Throws: `EncodingError`, or the error of the type's own `encode(to:)`.
  package static func encode<T: Encodable>(
    _ value: T,
    into buffer: inout ByteBuffer
  ) throws -> Outcome {
    let writer = StructuredWriter()
    try writer.encode(value)
    try writer.checkFailure()
    // A type that decodes nothing as nil needs no bytes for it; any other value does, however it is encoded.
    if writer.isNull && T.self is any ExpressibleByNilLiteral.Type { return .null }
    writer.append(to: &buffer)
    return .value
  }

  /// Returns the value that was appended.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - bytes: The bytes that ``encode(_:into:)`` appended, and nothing else.
  /// - Returns: The value.
  /// - Throws: `DecodingError` for bytes that are damaged or of another shape, or the error of the type's own
  ///   `init(from:)`.
  package static func decode<T: Decodable>(_ type: T.Type, from bytes: RawSpan) throws -> T {
    try unsafe bytes.withUnsafeBytes { buffer in
      let reader = unsafe StructuredReader(buffer)
      // A decoder that a value keeps must not read freed bytes.
      defer { reader.invalidate() }
      try reader.validate()
      return try reader.decode(T.self, at: 0, in: nil)
    }
  }
}

/// A node that no archive can hold: Foundation's protocol for the nodes of a predicate requires `Codable` nevertheless.
public protocol _UncodableNode {}

extension _UncodableNode {
  /// Throws.
  public func encode(to encoder: any Encoder) throws {
    throw EncodingError.invalidValue(
      self,
      .init(
        codingPath: encoder.codingPath,
        debugDescription: "\(Self.self) cannot be encoded: encode what it was made of"
      )
    )
  }

  /// Throws.
  public init(from decoder: any Decoder) throws {
    throw DecodingError.dataCorrupted(
      .init(
        codingPath: decoder.codingPath,
        debugDescription: "\(Self.self) cannot be decoded: decode what it was made of"
      )
    )
  }
}

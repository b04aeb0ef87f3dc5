import Foundation

/// The coded form is that of archives of Apple's framework:
/// `{"implementation": {"primaryKey", "entityName", "isTemporary", "storeIdentifier"}}`.
extension PersistentIdentifier: Codable {
  private enum OuterKey: String, CodingKey { case implementation }
  private enum InnerKey: String, CodingKey {
    case primaryKey, entityName, isTemporary, storeIdentifier
  }

  public func encode(to encoder: any Encoder) throws {
    var outer = encoder.container(keyedBy: OuterKey.self)
    var inner = outer.nestedContainer(keyedBy: InnerKey.self, forKey: .implementation)
    try inner.encode(primaryKeyText, forKey: .primaryKey)
    try inner.encode(entityName, forKey: .entityName)
    try inner.encode(isTemporary, forKey: .isTemporary)
    try inner.encodeIfPresent(storeIdentifier, forKey: .storeIdentifier)
  }

  public init(from decoder: any Decoder) throws {
    let outer = try decoder.container(keyedBy: OuterKey.self)
    let inner = try outer.nestedContainer(keyedBy: InnerKey.self, forKey: .implementation)
    let text = try inner.decode(String.self, forKey: .primaryKey)
    let entity = try inner.decode(String.self, forKey: .entityName)
    let store = try inner.decodeIfPresent(String.self, forKey: .storeIdentifier)
    let origin = IdentifierOrigin.read(store: store, entity: entity)
    if store == nil {
      guard text.first == "t", let key = UInt64(text.dropFirst()) else {
        throw DecodingError.dataCorruptedError(
          forKey: .primaryKey,
          in: inner,
          debugDescription: "expected a temporary key such as \"t12\", found \"\(text)\""
        )
      }
      self.init(origin: origin, key: key)
    } else {
      self.init(origin: origin, primaryKeyText: text)
    }
  }
}

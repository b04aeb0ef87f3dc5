/// Distinguishes the user's structs, which have fields, from all other `Codable` types.
enum CompositeShape {
  /// Whether values of a type have fields that a store can know.
  ///
  /// Reads the type's metadata and runs none of its code. Types of the standard library and of
  /// Foundation are values without fields, whatever their structure; so are types with a raw value.
  static func isComposite(_ type: any Any.Type) -> Bool {
    let type = TypeMetadata.unwrapped(type)
    guard TypeMetadata.isStruct(type), plainColumnType(type) == nil,
      type is any (Decodable & Encodable).Type, !(type is any RawRepresentable.Type)
    else { return false }
    let name = _typeName(type, qualified: true)
    return !name.hasPrefix("Swift.") && !name.hasPrefix("Foundation")
  }
}

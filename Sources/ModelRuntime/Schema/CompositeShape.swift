/// Distinguishes the user's structs, which have fields, from all other `Codable` types.
enum CompositeShape {
  /// Whether values of a type have fields that a store can know.
  ///
  /// Reads the type's metadata and runs none of its code. Types of the standard library and of
  /// Foundation are values without fields, whatever their structure; so are types with a raw value.
  static func isComposite(_ type: any Any.Type) -> Bool {
    let type = (type as? any OptionalType.Type)?.wrappedType ?? type
    guard isStruct(type), type is any (Decodable & Encodable).Type,
      !(type is any RawRepresentable.Type), !(type is any _ColumnValue.Type)
    else { return false }
    let name = _typeName(type, qualified: true)
    return !name.hasPrefix("Swift.") && !name.hasPrefix("Foundation")
  }

  /// Whether a type is an enumeration.
  static func isEnumeration(_ type: any Any.Type) -> Bool { metadataKind(type) == 0x201 }

  private static func isStruct(_ type: any Any.Type) -> Bool { metadataKind(type) == 0x200 }

  /// The first word of a type's metadata, which is its kind: a part of Swift's ABI.
  private static func metadataKind(_ type: any Any.Type) -> UInt {
    unsafe unsafeBitCast(type, to: UnsafePointer<UInt>.self).pointee
  }
}

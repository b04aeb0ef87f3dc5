/// The shape of a type, read from its metadata.
///
/// The first cast of a type to a protocol, whether it succeeds or not, has the runtime search the conformances of all loaded
/// libraries: a quarter of a million instructions beside Foundation. A container asks several such questions about the type of
/// each property. The words read here are a part of Swift's ABI.
enum TypeMetadata {
  /// Whether a type is a class.
  ///
  /// Where there is Objective-C the first word of a class is an address, which is greater than every other kind.
  static func isClass(_ type: any Any.Type) -> Bool {
    let kind = word(0, of: type)
    return kind == 0 || kind > 0x7FF
  }

  /// Whether a type is a structure.
  static func isStruct(_ type: any Any.Type) -> Bool { word(0, of: type) == 0x200 }

  /// Whether a type is an enumeration other than `Optional`.
  static func isEnumeration(_ type: any Any.Type) -> Bool { word(0, of: type) == 0x201 }

  /// Whether a type is an `Optional`.
  static func isOptional(_ type: any Any.Type) -> Bool { word(0, of: type) == 0x202 }

  /// The type that an `Optional` wraps, or `nil` if the type is not optional.
  static func wrappedType(of type: any Any.Type) -> (any Any.Type)? {
    isOptional(type) ? argument(0, of: type) : nil
  }

  /// The type that an `Optional` wraps, or any other type itself.
  static func unwrapped(_ type: any Any.Type) -> any Any.Type { wrappedType(of: type) ?? type }

  /// The type of an array's elements, or `nil` if the type is not an `Array`.
  static func elementType(of type: any Any.Type) -> (any Any.Type)? {
    isStruct(type) && isSameGeneric(type, [Int].self) ? argument(0, of: type) : nil
  }

  /// The types in a set or a dictionary; empty for other types.
  static func memberTypes(of type: any Any.Type) -> [any Any.Type] {
    guard isStruct(type) else { return [] }
    if isSameGeneric(type, Set<Int>.self) { return [argument(0, of: type)] }
    if isSameGeneric(type, [Int: Int].self) {
      return [argument(0, of: type), argument(1, of: type)]
    }
    return []
  }

  /// Whether two structures come from the same declaration.
  private static func isSameGeneric(_ type: any Any.Type, _ other: any Any.Type) -> Bool {
    word(1, of: type) == word(1, of: other)
  }

  /// An argument of a generic structure or enumeration: they follow the kind and the address of the declaration.
  private static func argument(_ number: Int, of type: any Any.Type) -> any Any.Type {
    unsafe unsafeBitCast(word(2 + number, of: type), to: Any.Type.self)
  }

  private static func word(_ number: Int, of type: any Any.Type) -> UInt {
    unsafe unsafeBitCast(type, to: UnsafePointer<UInt>.self)[number]
  }
}

/// The type of a property's values in encoded form: by name, so that it can be read even if the type
/// itself does not exist.
struct ValueTypeName: Hashable, Codable, Sendable {
  /// The qualified name, for people and for comparing.
  let name: String
  /// The name by which the runtime finds the type.
  let mangledName: String?
  /// The stored type, by its own name: the raw value's, without optionals and without
  /// enclosing types.
  let shape: String

  init(_ type: any Any.Type) {
    name = ValueTypeName.qualifiedName(of: type)
    mangledName = _mangledTypeName(type)
    let wrapped = (type as? any OptionalType.Type)?.wrappedType ?? type
    let stored =
      (wrapped as? any RawRepresentable.Type).map { ValueTypeName.rawValueType($0) } ?? wrapped
    shape = ValueTypeName.unqualified(ValueTypeName.qualifiedName(of: stored))
  }

  /// The type, or ``UnknownValue`` if this process has none with that name.
  var resolved: any Any.Type {
    mangledName.flatMap(_typeByName) ?? UnknownValue.self
  }

  static func == (lhs: ValueTypeName, rhs: ValueTypeName) -> Bool { lhs.name == rhs.name }
  func hash(into hasher: inout Hasher) { hasher.combine(name) }

  private static func rawValueType<R: RawRepresentable>(_ type: R.Type) -> any Any.Type {
    R.RawValue.self
  }

  /// The name of a type; Foundation on Linux is split into modules that a schema must not depend on.
  private static func qualifiedName(of type: any Any.Type) -> String {
    _typeName(type, qualified: true)
      .split(separator: "FoundationEssentials.", omittingEmptySubsequences: false)
      .joined(separator: "Foundation.")
  }

  /// Removes enclosing types: `Array<Status>` of `Swift.Array<App.SchemaV1.Status>`.
  ///
  /// Works on the text, since the name must be the same if the type does not exist.
  private static func unqualified(_ name: String) -> String {
    var result = ""
    // The part since the last character that cannot be in a path of names.
    var path = ""
    for character in name {
      if character == "." {
        path = ""
      } else if "<>(), []".contains(character) {
        result += path
        result.append(character)
        path = ""
      } else {
        path.append(character)
      }
    }
    return result + path
  }
}

/// A placeholder for a type that is named in an encoded schema and does not exist in this process.
enum UnknownValue: Sendable {}

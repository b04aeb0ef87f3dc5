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
    let wrapped = TypeMetadata.unwrapped(type)
    self.init(type, storedAs: ValueTypeName.rawValueType(wrapped) ?? wrapped)
  }

  private init(_ type: any Any.Type, storedAs stored: any Any.Type) {
    name = ValueTypeName.qualifiedName(of: type)
    mangledName = _mangledTypeName(type)
    shape = ValueTypeName.unqualified(ValueTypeName.qualifiedName(of: stored))
  }

  /// The name of no type.
  static let unknown = ValueTypeName(UnknownValue.self, storedAs: UnknownValue.self)

  /// The type, or ``UnknownValue`` if this process has none with that name.
  var resolved: any Any.Type {
    mangledName.flatMap(_typeByName) ?? UnknownValue.self
  }

  static func == (lhs: ValueTypeName, rhs: ValueTypeName) -> Bool { lhs.name == rhs.name }
  func hash(into hasher: inout Hasher) { hasher.combine(name) }

  /// The type of the raw values, or `nil` if a type has none.
  private static func rawValueType(_ type: any Any.Type) -> (any Any.Type)? {
    func rawValue<R: RawRepresentable>(_: R.Type) -> any Any.Type { R.RawValue.self }
    if plainColumnType(type) != nil { return nil }
    return (type as? any RawRepresentable.Type).map { rawValue($0) }
  }

  /// The name of a type; Foundation on Linux is split into modules that a schema must not depend on.
  private static func qualifiedName(of type: any Any.Type) -> String {
    var name = ""
    var rest = _typeName(type, qualified: true)[...]
    while let end = rest.firstIndex(of: ".") {
      let part = rest[...end]
      if part.hasSuffix("FoundationEssentials.") {
        name += part.dropLast("Essentials.".count)
        name += "."
      } else {
        name += part
      }
      rest = rest[rest.index(after: end)...]
    }
    return name + rest
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

/// The type of a property's values, as it is encoded: by name, so that it can be read where the type
/// itself does not exist.
struct ValueTypeName: Hashable, Codable, Sendable {
  /// The qualified name, for people and for comparing.
  let name: String
  /// The name the runtime finds the type by.
  let mangledName: String?

  init(_ type: any Any.Type) {
    // Foundation on Linux is split in modules that are none of a schema's business.
    name = _typeName(type, qualified: true)
      .split(separator: "FoundationEssentials.", omittingEmptySubsequences: false)
      .joined(separator: "Foundation.")
    mangledName = _mangledTypeName(type)
  }

  /// The type, or ``UnknownValue`` if this process has none of that name.
  var resolved: any Any.Type {
    mangledName.flatMap(_typeByName) ?? UnknownValue.self
  }

  static func == (lhs: ValueTypeName, rhs: ValueTypeName) -> Bool { lhs.name == rhs.name }
  func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// Stands for a type that is named in an encoded schema and does not exist in this process.
enum UnknownValue: Sendable {}

/// The key paths of `#Index` and `#Unique`, independent of the class.
protocol KeyPathLists {
  /// The properties of each index or constraint.
  var keyPathLists: [[AnyKeyPath]] { get }
  /// The kinds of the indices; empty for constraints.
  var indexKinds: [Schema.IndexKind] { get }
}

// MARK: Key paths by name, for coding

extension PersistentModel {
  /// Returns the key paths to properties by name.
  ///
  /// - Throws: `DecodingError.dataCorrupted` if the class declares no property with one of the names.
  static func keyPaths(
    named names: [String],
    at codingPath: [any CodingKey]
  ) throws -> [PartialKeyPath<Self>] {
    let metadata = schemaMetadata
    return try names.map { name in
      let entry = metadata.first { $0.name == name }
      guard let keyPath = entry?.keypath as? PartialKeyPath<Self> else {
        let context = DecodingError.Context(
          codingPath: codingPath,
          debugDescription: "\(Self.self) has no property \"\(name)\""
        )
        throw DecodingError.dataCorrupted(context)
      }
      return keyPath
    }
  }

  /// Returns the names of the properties at the ends of some key paths.
  ///
  /// - Throws: `EncodingError.invalidValue` if one of them leads to no property of the class.
  static func names(
    of keyPaths: [PartialKeyPath<Self>],
    at codingPath: [any CodingKey]
  ) throws -> [String] {
    let metadata = schemaMetadata
    return try keyPaths.map { keyPath in
      guard let entry = metadata.first(where: { $0.keypath == keyPath }) else {
        let context = EncodingError.Context(
          codingPath: codingPath,
          debugDescription: "\(keyPath) is no stored property of \(Self.self)"
        )
        throw EncodingError.invalidValue(keyPath, context)
      }
      return entry.name
    }
  }
}

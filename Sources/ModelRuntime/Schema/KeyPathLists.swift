/// What `#Index` and `#Unique` say, whatever the class they say it of.
protocol KeyPathLists {
  /// The properties of each index or constraint.
  var keyPathLists: [[AnyKeyPath]] { get }
}

// MARK: Key paths by name, for coding

extension PersistentModel {
  /// Returns the key paths to the properties of some names.
  ///
  /// - Throws: `DecodingError.dataCorrupted` if the class declares no property of one of them.
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

  /// Returns the names of the properties some key paths lead to.
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

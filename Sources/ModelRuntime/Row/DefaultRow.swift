import RowFormat

extension ModelDescriptor {
  /// A row in which every attribute has its default value, and everything else is null; it completes rows
  /// from before a property existed.
  package func defaultRow() -> [UInt8] { row(of: properties.map(\.defaultValue)) }

  /// Makes the same row with defaults made now: a default that is the current time differs each time.
  ///
  /// - Parameter given: The properties that need no default.
  /// - Returns: The row. Its values of the given properties are meaningless.
  func currentDefaultRow(without given: [ModelProperty]) -> [UInt8] {
    let needsDefaults = properties.contains { property in
      property.defaultValue != nil && !property.isRelationship
        && !given.contains { $0.ordinal == property.ordinal }
    }
    return row(of: needsDefaults ? makeDefaults() : [])
  }

  /// The current defaults of all properties.
  private func makeDefaults() -> [Any?] {
    var defaults = superclass?.makeDefaults() ?? []
    defaults += repeatElement(nil, count: properties.count - defaults.count)
    for metadata in type.schemaMetadata {
      guard let property = property(named: metadata.name) else { continue }
      defaults[property.ordinal] = metadata.defaultValue
    }
    return defaults
  }

  /// Makes a row of values, of which there may be fewer than properties.
  private func row(of values: [Any?]) -> [UInt8] {
    var encoder = _RowEncoder(references: ReferenceList())
    encoder.begin(layout)
    for (property, value) in zip(properties, values) {
      guard case .attribute(let codec) = property.kind, let value else { continue }
      codec.write(value, into: &encoder, property.ordinal)
    }
    // A default that cannot be encoded is left null, and reads as its type's neutral value.
    encoder.failure = nil
    return (try? encoder.finishBytes()) ?? []
  }
}

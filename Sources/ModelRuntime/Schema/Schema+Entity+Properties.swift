// MARK: Properties by kind

extension Schema.Entity {
  /// All properties: those of the superclasses, then those of the class.
  public var properties: [any SchemaProperty] { inheritedProperties + storedProperties }

  /// The attributes, inherited ones included.
  public var attributes: Set<Schema.Attribute> {
    Set(properties.compactMap { $0 as? Schema.Attribute })
  }

  /// The relationships, inherited ones included.
  public var relationships: Set<Schema.Relationship> {
    Set(properties.compactMap { $0 as? Schema.Relationship })
  }

  /// The attributes by name, inherited ones included.
  public var attributesByName: [String: Schema.Attribute] {
    byName(properties.compactMap { $0 as? Schema.Attribute })
  }

  /// The relationships by name, inherited ones included.
  public var relationshipsByName: [String: Schema.Relationship] {
    byName(properties.compactMap { $0 as? Schema.Relationship })
  }

  private func byName<P: SchemaProperty>(_ properties: [P]) -> [String: P] {
    Dictionary(properties.map { ($0.name, $0) }) { first, _ in first }
  }

  /// The property of a name, declared or inherited.
  package func property(named name: String) -> (any SchemaProperty)? {
    storedPropertiesByName[name] ?? inheritedPropertiesByName[name]
  }

  /// This entity, then its superentity, and so on to the top.
  package var lineage: [Schema.Entity] {
    Array(sequence(first: self, next: \.superentity))
  }
}

// MARK: Key paths

extension Schema.Entity {
  /// The name of the property a key path leads to, or `nil` if it leads to none of the entity's.
  ///
  /// A key path is known in the form in which its class declares it: `\Base.name`, not `\Sub.name`.
  package func propertyName(for keyPath: AnyKeyPath) -> String? {
    for entity in lineage {
      if let entry = entity.metadata.first(where: { $0.keypath == keyPath }) { return entry.name }
    }
    return nil
  }
}

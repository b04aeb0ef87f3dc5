// MARK: Properties by kind

extension Schema.Entity {
  /// All properties: those of the superclasses, then those of the class.
  public var properties: [any SchemaProperty] { inheritedProperties + storedProperties }

  /// The attributes, inherited ones included; setting them replaces those of the entity itself.
  public var attributes: Set<Schema.Attribute> {
    get { Set(all(Schema.Attribute.self)) }
    set { replace(Schema.Attribute.self, by: Array(newValue)) }
  }

  /// The relationships, inherited ones included; setting them replaces those of the entity itself.
  public var relationships: Set<Schema.Relationship> {
    get { Set(all(Schema.Relationship.self)) }
    set { replace(Schema.Relationship.self, by: Array(newValue)) }
  }

  /// The attributes by name, inherited ones included.
  public var attributesByName: [String: Schema.Attribute] {
    get { byName(all(Schema.Attribute.self)) }
    set { replace(Schema.Attribute.self, by: Array(newValue.values)) }
  }

  /// The relationships by name, inherited ones included.
  public var relationshipsByName: [String: Schema.Relationship] {
    get { byName(all(Schema.Relationship.self)) }
    set { replace(Schema.Relationship.self, by: Array(newValue.values)) }
  }

  private func all<P: SchemaProperty>(_ kind: P.Type) -> [P] { properties.compactMap { $0 as? P } }

  private func byName<P: SchemaProperty>(_ properties: [P]) -> [String: P] {
    Dictionary(properties.map { ($0.name, $0) }) { first, _ in first }
  }

  /// Replaces the entity's own properties of a kind; those that stay keep their places.
  private func replace<P: SchemaProperty>(_ kind: P.Type, by replacement: [P]) {
    var new = byName(replacement.filter { inheritedPropertiesByName[$0.name] == nil })
    let kept = storedProperties.compactMap { property -> (any SchemaProperty)? in
      property is P ? new.removeValue(forKey: property.name) : property
    }
    storedProperties = kept + new.values.sorted { $0.name < $1.name }
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
  /// The name of the property at the end of a key path, or `nil` if it is not the entity's.
  ///
  /// `\Base.name` and `\Sub.name` lead to the same property of the entity of `Sub`.
  package func propertyName(for keyPath: AnyKeyPath) -> String? {
    for entity in lineage {
      if let entry = entity.metadata.first(where: { $0.keypath == keyPath }) { return entry.name }
    }
    return modelType.map(ModelDescriptor.of)?.ownOrInheritedProperty(for: keyPath)?.name
  }
}

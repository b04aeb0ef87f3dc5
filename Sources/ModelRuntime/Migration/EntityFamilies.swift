/// The entities of a schema, each with those that inherit from it.
package struct EntityFamilies {
  private var members: [String: Set<String>] = [:]
  private let names: Set<String>

  package init(_ schema: Schema) {
    names = Set(schema.entitiesByName.keys)
    for descriptor in schema.descriptors {
      var next: ModelDescriptor? = descriptor
      while let base = next {
        members[base.entityName, default: []].insert(descriptor.entityName)
        next = base.superclass
      }
    }
  }

  /// Whether the schema has an entity of a name.
  package func contains(_ name: String) -> Bool { names.contains(name) }

  /// An entity, and all that inherit from it.
  package func members(of entity: String) -> Set<String> { members[entity] ?? [entity] }
}

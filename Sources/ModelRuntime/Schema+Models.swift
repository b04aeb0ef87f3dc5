extension Schema {
  /// The model classes of the schema's entities.
  package var modelTypes: [any PersistentModel.Type] { entities.compactMap(\.modelType) }

  /// The descriptors of these classes, as the schema relates them to each other.
  package var descriptors: [ModelDescriptor] {
    isMixed ? ModelDescriptor.related(modelTypes) : modelTypes.map { .of($0) }
  }

  /// The descriptor of the entity of a name.
  package func descriptor(named name: String) -> ModelDescriptor? {
    guard let type = entitiesByName[name]?.modelType else { return nil }
    return isMixed ? descriptors.first { $0.type == type } : .of(type)
  }

  /// Whether the schema has exactly this class.
  package func contains(_ type: any PersistentModel.Type) -> Bool {
    entity(forModelType: type) != nil
  }
}

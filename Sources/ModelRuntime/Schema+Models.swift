extension Schema {
  /// The model classes of the schema's entities.
  package var modelTypes: [any PersistentModel.Type] { entities.compactMap(\.modelType) }

  /// Whether the schema has exactly this class.
  package func contains(_ type: any PersistentModel.Type) -> Bool {
    entity(forModelType: type) != nil
  }
}

/// The entity of one model class, before it is linked to others.
struct EntityDraft {
  let entity: Schema.Entity
  /// The classes its relationships lead to.
  let destinations: [any PersistentModel.Type]
  let problems: [SwiftDataError]

  init(_ type: any PersistentModel.Type, entityName: String) {
    // Read once: every read evaluates the initialisers of all properties again.
    let metadata = type.schemaMetadata.filter { declares(type, $0) }
    var properties: [any SchemaProperty] = []
    var stored: [Schema.PropertyMetadata] = []
    var lists: [any SchemaProperty & KeyPathLists] = []
    var destinations: [any PersistentModel.Type] = []
    var problems: [SwiftDataError] = []

    for entry in metadata {
      if let list = entry.metadata as? any SchemaProperty & KeyPathLists {
        lists.append(list)
        continue
      }
      let options = (entry.metadata as? Schema.Attribute)?.options ?? []
      let valueType = Swift.type(of: entry.keypath).valueType
      switch ValueShape(valueType, options: options) {
      case .toOne(let model), .toMany(let model):
        destinations.append(model)
        properties.append(makeRelationship(entry, valueType: valueType, to: model))
      case .attribute:
        properties.append(makeAttribute(entry, valueType: valueType))
      case .unsupported(let reason):
        problems.append(
          .invalidSchema.explained(
            "\(entityName).\(entry.name) of type \(_typeName(valueType)) cannot be stored: \(reason)",
            entity: entityName,
            property: entry.name
          )
        )
        continue
      }
      stored.append(entry)
    }

    let entity = Schema.Entity(
      entityName,
      modelType: type,
      metadata: stored,
      properties: properties
    )
    self.entity = entity
    self.destinations = destinations
    entity.lists = lists
    self.problems = problems
  }
}

/// Whether an entry is the class's own: a subclass without `@Model` returns its superclass's.
private func declares(
  _ type: any PersistentModel.Type,
  _ entry: Schema.PropertyMetadata
) -> Bool {
  guard let root = Swift.type(of: entry.keypath).rootType as? AnyClass else { return true }
  return root == type || !isSubclass(type, of: root)
}

private func isSubclass(_ type: AnyClass, of other: AnyClass) -> Bool {
  sequence(first: type, next: { _getSuperclass($0) }).contains { $0 == other }
}

private func makeRelationship(
  _ entry: Schema.PropertyMetadata,
  valueType: any Any.Type,
  to model: any PersistentModel.Type
) -> Schema.Relationship {
  Schema.Relationship(
    name: entry.name,
    keypath: entry.keypath,
    destination: Schema.entityName(for: model),
    valueType: valueType,
    options: .declared(by: entry.metadata)
      ?? Schema.Relationship(minimumModelCount: nil, maximumModelCount: nil)
  )
}

private func makeAttribute(
  _ entry: Schema.PropertyMetadata,
  valueType: any Any.Type
) -> Schema.Attribute {
  let declared = entry.metadata as? Schema.Attribute ?? Schema.Attribute()
  let attribute = Schema.Attribute.make(
    name: entry.name,
    originalName: declared.originalName.isEmpty ? nil : declared.originalName,
    options: declared.options,
    valueType: valueType,
    defaultValue: entry.defaultValue,
    hashModifier: declared.hashModifier
  )
  attribute.derivation = declared.derivation
  return attribute
}

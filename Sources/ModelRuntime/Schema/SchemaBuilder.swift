/// Makes entities from model classes, and from the classes they lead to.
struct SchemaBuilder {
  private(set) var entities: [Schema.Entity] = []
  private var problems: [SwiftDataError] = []
  private var seen: Set<ObjectIdentifier> = []
  private var typeNames: [String: String] = [:]

  /// Adds classes, their superclasses, and the classes their relationships lead to.
  mutating func add(_ types: [any PersistentModel.Type]) {
    var pending = types
    while !pending.isEmpty {
      let found = pending.flatMap { addEntity(of: $0) }
      pending = found
    }
  }

  /// Links the entities to each other, and returns all errors.
  mutating func finish() -> [SwiftDataError] {
    for entity in entities {
      guard let type = entity.modelType, let superclass = superclass(of: type) else { continue }
      entity.superentity = entities.first { $0.modelType == superclass }
    }
    return problems + EntityLinker.link(entities)
  }

  /// Adds one class, and returns the classes it leads to.
  private mutating func addEntity(
    of type: any PersistentModel.Type
  ) -> [any PersistentModel.Type] {
    guard seen.insert(ObjectIdentifier(type)).inserted else { return [] }
    let name = Schema.entityName(for: type)
    let typeName = _typeName(type, qualified: true)
    if let other = typeNames[name] {
      problems.append(
        .invalidSchema.explained(
          "\(typeName) and \(other) have the same entity name \"\(name)\"",
          entity: name
        )
      )
      return []
    }
    typeNames[name] = typeName

    let draft = EntityDraft(type, entityName: name)
    entities.append(draft.entity)
    problems += draft.problems
    return (superclass(of: type).map { [$0] } ?? []) + draft.destinations
  }

  /// The nearest superclass that is a model.
  private func superclass(of type: any PersistentModel.Type) -> (any PersistentModel.Type)? {
    sequence(first: type as AnyClass, next: { _getSuperclass($0) })
      .dropFirst().lazy.compactMap { $0 as? any PersistentModel.Type }.first
  }
}

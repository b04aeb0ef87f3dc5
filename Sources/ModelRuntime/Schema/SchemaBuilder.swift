/// Makes entities from model classes, and from the classes they lead to.
///
/// Relationships lead to entities by name: where a schema lists a class of the destination's name, that is the destination,
/// whichever class the property is declared with. So versions may share classes that lead to classes they define anew.
struct SchemaBuilder {
  private(set) var entities: [Schema.Entity] = []
  /// Whether a relationship leads to another class than its property is declared with.
  private(set) var isMixed = false
  private var problems: [SwiftDataError] = []
  private var seen: Set<ObjectIdentifier> = []
  /// The classes of a name that are listed, or inherited from by listed ones.
  private var given: [String: any PersistentModel.Type] = [:]
  private var typeNames: [String: String] = [:]

  /// Adds classes, their superclasses, and the classes their relationships lead to.
  ///
  /// - Parameters:
  ///   - types: The classes.
  ///   - others: Classes that are added only where relationships lead to one of their name.
  mutating func add(
    _ types: [any PersistentModel.Type],
    among others: [any PersistentModel.Type] = []
  ) {
    for type in types + others {
      for own in lineage(of: type) {
        let name = Schema.entityName(for: own)
        given[name] = given[name] ?? own
      }
    }
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
    let destinations = draft.destinations.map { declared in
      let own = given[Schema.entityName(for: declared)] ?? declared
      if own != declared { isMixed = true }
      return own
    }
    return (superclass(of: type).map { [$0] } ?? []) + destinations
  }

  /// The nearest superclass that is a model.
  private func superclass(of type: any PersistentModel.Type) -> (any PersistentModel.Type)? {
    lineage(of: type).dropFirst().first
  }

  /// A class, and its superclasses that are models.
  private func lineage(of type: any PersistentModel.Type) -> [any PersistentModel.Type] {
    var models = [type]
    var next: AnyClass? = _getSuperclass(type)
    while let superclass = next {
      if let model = superclass as? any PersistentModel.Type { models.append(model) }
      next = _getSuperclass(superclass)
    }
    return models
  }
}

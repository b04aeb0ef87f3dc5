import Synchronization

// The descriptors of schemas whose classes are related otherwise than they are declared.

extension ModelDescriptor {
  /// The descriptors of classes whose relationships lead to the ones among them that have the destination's name.
  ///
  /// Of `V2.Owner` and `V1.Thing`, the thing's owner is declared as a `V1.Owner`, and leads to a `V2.Owner` here. Ordinals are
  /// those of the class's own descriptor; inverses, and with them the columns of ranks, may be others.
  ///
  /// - Parameter types: All classes of a schema: superclasses and destinations are among them.
  /// - Returns: The descriptors in the order of the classes, the same at each call.
  static func related(_ types: [any PersistentModel.Type]) -> [ModelDescriptor] {
    let classes = Set(types.map { ObjectIdentifier($0) })
    let known = relatedClasses.withLock { $0[classes] }
    // Made without the lock: default values are code of the app. Of two threads that do so at once, one is first.
    let descriptors = known ?? makeRelated(types)
    let kept = relatedClasses.withLock { all in
      let kept = all[classes] ?? descriptors
      all[classes] = kept
      return kept
    }
    return types.compactMap { kept[ObjectIdentifier($0)] }
  }

  /// Never freed, as all descriptors.
  private static let relatedClasses = Mutex<
    [Set<ObjectIdentifier>: [ObjectIdentifier: ModelDescriptor]]
  >([:])

  private static func makeRelated(
    _ types: [any PersistentModel.Type]
  ) -> [ObjectIdentifier: ModelDescriptor] {
    var classes: [String: any PersistentModel.Type] = [:]
    for type in types { classes[Schema.entityName(for: type)] = type }
    var blueprints: [Blueprint] = []
    var seen: Set<ObjectIdentifier> = []
    for type in types { draw(type, &blueprints, &seen) }
    let wanted = Set(types.map { ObjectIdentifier($0) })
    var made: [ObjectIdentifier: ModelDescriptor] = [:]
    for blueprint in blueprints where wanted.contains(ObjectIdentifier(blueprint.type)) {
      _ = make(blueprint, &made, relatedTo: classes)
    }
    for descriptor in made.values { descriptor.findInverses(made) }
    for descriptor in made.values { descriptor.layOut() }
    return made
  }

  /// The name of the property at a key path of a class that has an entity's name.
  static func propertyName(_ keyPath: AnyKeyPath, of entity: String) -> String? {
    guard let root = Swift.type(of: keyPath).rootType as? any PersistentModel.Type,
      Schema.entityName(for: root) == entity
    else { return nil }
    return ModelDescriptor.of(root).ownOrInheritedProperty(for: keyPath)?.name
  }
}

extension ModelProperty.Kind {
  /// The same relationship to the class of the destination's name, if there is one.
  func leading(to classes: [String: any PersistentModel.Type]) -> Self {
    if classes.isEmpty { return self }
    return switch self {
    case .attribute: self
    case .toOne(let type): .toOne(classes[Schema.entityName(for: type)] ?? type)
    case .toMany(let type): .toMany(classes[Schema.entityName(for: type)] ?? type)
    }
  }

  /// Whether it leads to the same class as another.
  func leads(whereLeads other: Self) -> Bool {
    switch (self, other) {
    case (.toOne(let type), .toOne(let same)), (.toMany(let type), .toMany(let same)): type == same
    default: true
    }
  }
}

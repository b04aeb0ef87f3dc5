/// Links entities to each other: superentities, inverses, uniqueness constraints and indices.
enum EntityLinker {
  /// Links the entities of one schema, and returns their errors.
  static func link(_ entities: [Schema.Entity]) -> [SwiftDataError] {
    let byName = Dictionary(entities.map { ($0.name, $0) }) { first, _ in first }
    return duplicates(in: entities) + linkHierarchy(entities, byName: byName)
      + checkDestinations(of: entities, byName: byName)
      + InverseLinker(entities: entities, byName: byName).link()
      + entities.flatMap(checkOriginalNames) + entities.flatMap(checkCounts)
      + entities.flatMap(resolveLists) + entities.flatMap { $0.linkDerivations(byName) }
  }

  private static func duplicates(in entities: [Schema.Entity]) -> [SwiftDataError] {
    var names: Set<String> = []
    return entities.filter { !names.insert($0.name).inserted }.map { entity in
      .invalidSchema.explained(
        "the schema has two entities named \"\(entity.name)\"",
        entity: entity.name
      )
    }
  }

  private static func linkHierarchy(
    _ entities: [Schema.Entity],
    byName: [String: Schema.Entity]
  ) -> [SwiftDataError] {
    var problems: [SwiftDataError] = []
    for entity in entities {
      guard let name = entity.superentityName else { continue }
      guard let parent = byName[name] else {
        problems.append(
          .invalidSchema.explained(
            "\(entity.name) has the superentity \"\(name)\", which the schema does not contain",
            entity: entity.name
          )
        )
        continue
      }
      if parent.lineage.contains(where: { $0 === entity }) {
        problems.append(
          .invalidSchema.explained("\(entity.name) inherits from itself", entity: entity.name)
        )
        continue
      }
      entity.superentity = parent
      parent.subentities.insert(entity)
    }
    for entity in entities {
      entity.inheritedProperties = entity.lineage.dropFirst().reversed().flatMap(\.storedProperties)
    }
    return problems
  }

  private static func checkDestinations(
    of entities: [Schema.Entity],
    byName: [String: Schema.Entity]
  ) -> [SwiftDataError] {
    entities.flatMap { entity in
      entity.storedProperties.filter(\.isRelationship).compactMap { $0 as? Schema.Relationship }
        .filter { byName[$0.destination] == nil }
        .map { relationship in
          .invalidSchema.explained(
            "\(entity.name).\(relationship.name) leads to \"\(relationship.destination)\", "
              + "which the schema does not contain",
            entity: entity.name,
            property: relationship.name
          )
        }
    }
  }

  /// Finds properties that come from one and the same: only one of them could have its values.
  private static func checkOriginalNames(of entity: Schema.Entity) -> [SwiftDataError] {
    var owners: [String: String] = [:]
    var problems: [SwiftDataError] = []
    let own = Set(entity.storedProperties.map(\.name))
    for property in entity.inheritedProperties + entity.storedProperties {
      guard !property.originalName.isEmpty, property.originalName != property.name else { continue }
      guard let other = owners.updateValue(property.name, forKey: property.originalName),
        own.contains(property.name)
      else { continue }
      problems.append(
        .invalidSchema.explained(
          "\(entity.name).\(other) and \(entity.name).\(property.name) both have the originalName "
            + "\"\(property.originalName)\": expected one property that takes over its values",
          entity: entity.name,
          property: property.name
        )
      )
    }
    return problems
  }

  /// Finds relationships whose numbers of models no save could meet.
  private static func checkCounts(of entity: Schema.Entity) -> [SwiftDataError] {
    entity.storedProperties.compactMap { $0 as? Schema.Relationship }.compactMap { relationship in
      let least = relationship.minimumModelCount ?? 0
      let greatest = relationship.maximumModelCount ?? 0
      guard least < 0 || greatest < 0 || greatest > 0 && least > greatest else { return nil }
      return .invalidSchema.explained(
        "\(entity.name).\(relationship.name) leads to at least \(least) and at most \(greatest) models: expected a "
          + "minimumModelCount of 0 or more that is not above the maximumModelCount, which is no bound if it is 0",
        entity: entity.name,
        property: relationship.name
      )
    }
  }

  /// Adds the lists of `#Unique` and `#Index` to the entity, by property names.
  private static func resolveLists(of entity: Schema.Entity) -> [SwiftDataError] {
    var problems: [SwiftDataError] = []
    for list in entity.lists {
      let macro = list.isUnique ? "#Unique" : "#Index"
      for (position, keyPaths) in list.keyPathLists.enumerated() {
        let names = keyPaths.map { ($0, entity.propertyName(for: $0)) }
        if let unknown = names.first(where: { $0.1 == nil }) {
          problems.append(
            .invalidSchema.explained(
              "\(macro) of \(entity.name) names \(KeyPathNames.withoutAddresses(unknown.0)), which is not one of its stored properties",
              entity: entity.name
            )
          )
          continue
        }
        let known = names.compactMap(\.1)
        if list.isUnique, let derived = known.first(where: { entity.isDerived($0) }) {
          problems.append(
            .invalidSchema.explained(
              "#Unique of \(entity.name) names \(derived), which is derived from what others save, too",
              entity: entity.name,
              property: derived
            )
          )
        } else if list.isUnique, let toMany = known.first(where: { entity.isToMany($0) }) {
          problems.append(
            .invalidSchema.explained(
              "#Unique of \(entity.name) names \(toMany), a relationship to many models",
              entity: entity.name,
              property: toMany
            )
          )
        } else if list.isUnique {
          if !entity.uniquenessConstraints.contains(known) {
            entity.uniquenessConstraints.append(known)
          }
        } else {
          let index = [list.indexKinds[position].rawValue] + known
          if !entity.indices.contains(index) { entity.indices.append(index) }
        }
      }
    }
    return problems
  }
}

extension Schema.Entity {
  fileprivate func isDerived(_ name: String) -> Bool {
    (property(named: name) as? Schema.Attribute)?.derivation != nil
  }

  fileprivate func isToMany(_ name: String) -> Bool {
    (property(named: name) as? Schema.Relationship)?.isToOneRelationship == false
  }
}

/// Finds each relationship's inverse: named by either side, or the only candidate.
///
/// Two relationships between two different entities are inferred to be each other's inverse when
/// neither has another candidate, whatever their multiplicities. Relationships of an entity with
/// itself are left alone: a `mentor` is not the inverse of a `friend`.
struct InverseLinker {
  let entities: [Schema.Entity]
  let byName: [String: Schema.Entity]

  /// A relationship together with the entity that declares it.
  private struct End {
    let entity: Schema.Entity
    let relationship: Schema.Relationship

    var description: String { "\(entity.name).\(relationship.name)" }
  }

  func link() -> [SwiftDataError] {
    let ends = entities.flatMap { entity in
      entity.storedProperties.filter(\.isRelationship).compactMap { $0 as? Schema.Relationship }
        .map { End(entity: entity, relationship: $0) }
    }
    return linkDeclared(ends) + linkInferred(ends)
  }

  // MARK: Named inverses

  private func linkDeclared(_ ends: [End]) -> [SwiftDataError] {
    ends.compactMap { end in
      guard end.relationship.inverseKeyPath != nil || end.relationship.inverseName != nil else {
        return nil
      }
      guard let inverse = declaredInverse(of: end, among: ends) else {
        let name =
          end.relationship.inverseKeyPath.map { "\($0)" } ?? end.relationship.inverseName ?? ""
        return problem(
          end,
          "has the inverse \(name), which is no relationship of \(end.relationship.destination)"
        )
      }
      guard isRelated(inverse.relationship.destination, end.entity) else {
        return problem(
          end,
          "has the inverse \(inverse.description), which leads to "
            + "\(inverse.relationship.destination) instead of \(end.entity.name)"
        )
      }
      if isOtherList(end, of: inverse, among: ends) { return nil }
      return connect(end, inverse, among: ends)
    }
  }

  /// Whether a list names a to-one whose inverse is another list of the same class.
  ///
  /// That is the list that the to-one names, or else the first that names it. One reference cannot say in which of the two
  /// a model is, so the other does without.
  private func isOtherList(_ end: End, of inverse: End, among ends: [End]) -> Bool {
    guard let taken = inverseName(of: inverse, among: ends), taken != end.relationship.name,
      !end.relationship.isToOneRelationship, inverse.relationship.isToOneRelationship,
      inverse.relationship.destination == end.entity.name,
      let first = end.entity.relationshipsByName[taken]
    else { return false }
    return !first.isToOneRelationship && first.destination == end.relationship.destination
  }

  /// The name of the inverse that an end has, or will have, because it names it.
  private func inverseName(of end: End, among ends: [End]) -> String? {
    if let name = end.relationship.inverseName { return name }
    if end.relationship.inverseKeyPath == nil { return nil }
    return declaredInverse(of: end, among: ends)?.relationship.name
  }

  private func declaredInverse(of end: End, among ends: [End]) -> End? {
    let candidates = ends.filter { isRelated(end.relationship.destination, $0.entity) }
    if let keyPath = end.relationship.inverseKeyPath {
      let named = candidates.first { $0.relationship.keypath == keyPath }
      if let named { return named }
      // A key path of another version's class, in the place of which the schema has its own.
      guard let name = ModelDescriptor.propertyName(keyPath, of: end.relationship.destination),
        !entities.contains(where: { $0.modelType == Swift.type(of: keyPath).rootType })
      else { return nil }
      return candidates.first { $0.relationship.name == name }
    }
    return candidates.first { $0.relationship.name == end.relationship.inverseName }
  }

  /// Whether an entity is the named one, or above or below it.
  private func isRelated(_ name: String, _ entity: Schema.Entity) -> Bool {
    entity.lineage.contains { $0.name == name }
      || byName[name]?.lineage.contains { $0 === entity } == true
  }

  /// Makes two relationships each other's inverse, unless one of them has or names another.
  private func connect(_ end: End, _ inverse: End, among ends: [End]) -> SwiftDataError? {
    for (one, other) in [(end, inverse), (inverse, end)] {
      if let taken = inverseName(of: one, among: ends), taken != other.relationship.name {
        return problem(
          end,
          "has the inverse \(inverse.description), but \(one.description) already has the inverse "
            + "\(one.relationship.destination).\(taken)"
        )
      }
    }
    for (one, other) in [(end, inverse), (inverse, end)] {
      one.relationship.inverseName = other.relationship.name
      one.relationship.inverseKeyPath = other.relationship.keypath
    }
    return nil
  }

  // MARK: Inferred inverses

  private func linkInferred(_ ends: [End]) -> [SwiftDataError] {
    let open = ends.filter {
      $0.relationship.inverseName == nil && !$0.relationship.isOneSided
        && $0.relationship.destination != $0.entity.name
    }
    // All candidates are counted before any two are connected: the order must not matter.
    let pairs = open.map { end in
      (end, open.filter { leadsBack($0, to: end) })
    }
    return pairs.compactMap { end, candidates in
      guard let first = candidates.first else { return nil }
      if candidates.count > 1 {
        let names = candidates.map(\.description).joined(separator: " or ")
        return problem(
          end,
          "could have the inverse \(names): name one with @Relationship(inverse:)"
        )
      }
      // The other side reports an ambiguity of its own.
      guard open.filter({ leadsBack($0, to: first) }).count == 1 else { return nil }
      return connect(end, first, among: ends)
    }
  }

  private func leadsBack(_ candidate: End, to end: End) -> Bool {
    candidate.entity.name == end.relationship.destination
      && candidate.relationship.destination == end.entity.name
  }

  private func problem(_ end: End, _ what: String) -> SwiftDataError {
    .invalidSchema.explained(
      "\(end.description) \(what)",
      entity: end.entity.name,
      property: end.relationship.name
    )
  }
}

import RowFormat

/// The relationships of a model that takes the place of another: its own, where it has any.
struct MergedRelationships {
  private var relations: [(property: ModelProperty, relation: Relation)] = []
  private var changed = OrdinalSet()

  /// Merges, and takes the other model out of ends that now belong to the first.
  init(of model: any PersistentModel, over other: any PersistentModel) {
    for property in model._$state.descriptor.relationships {
      if property.isToMany {
        mergeList(property, model._$state, other._$state)
      } else {
        mergeOne(property, model._$state, other)
      }
    }
  }

  func apply(to state: _ModelState) {
    for (property, relation) in relations { state.setRelation(relation, property) }
    state.changed.formUnion(changed)
  }

  private mutating func mergeOne(
    _ property: ModelProperty,
    _ state: _ModelState,
    _ other: any PersistentModel
  ) {
    let theirs = other._$state.destination(property)
    if let own = state.destination(property) {
      // The same model at the other end: the place in its list stays, too.
      if own === theirs, other._$state.isUntouched(property) { return }
      set(.one(own), property)
      guard let theirs, theirs !== own, let inverse = property.inverse else { return }
      theirs._$state.removeOther(other, inverse, of: theirs)
    } else if !other._$state.isUntouched(property) {
      set(.one(theirs), property)
    }
  }

  private mutating func mergeList(
    _ property: ModelProperty,
    _ state: _ModelState,
    _ other: _ModelState
  ) {
    let own = state.destinations(property)
    if own.isEmpty, other.isUntouched(property) { return }
    let theirs = other.destinations(property)
    let known = Set(theirs.map { ObjectIdentifier($0) })
    let new = own.filter { !known.contains(ObjectIdentifier($0)) }
    let list = property.makeList(theirs + new)
    list.epoch = other.listEpoch
    list.added = OrderedModels(new)
    if case .many(let former) = other.relation(property) {
      list.added = OrderedModels(former.added.elements + new)
      list.removed = former.removed
      list.returned = former.returned
      list.isReordered = former.isReordered
      list.latecomers = former.latecomers
    }
    set(.many(list), property)
  }

  private mutating func set(_ relation: Relation, _ property: ModelProperty) {
    relations.append((property, relation))
    changed.insert(property.ordinal)
  }
}

extension _ModelState {
  /// Whether the store still has the relationship as it is.
  fileprivate func isUntouched(_ property: ModelProperty) -> Bool {
    flags.contains(.stored) && !changed.contains(property.ordinal)
  }
}

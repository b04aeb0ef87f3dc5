import RowFormat

/// The relationships of a model that replaces others: its own, if it has any.
struct MergedRelationships {
  private var relations: [(property: ModelProperty, relation: Relation)] = []
  private var changed = OrdinalSet()

  /// Merges, and removes the other models from ends that now belong to the first.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - others: The models it replaces: new ones, in the order of their insertion; or the one of a row.
  ///   - survivor: The model that stands for another: itself, or the one that has replaced it.
  init(
    of model: any PersistentModel,
    over others: [any PersistentModel],
    _ survivor: (any PersistentModel) -> any PersistentModel
  ) {
    for property in model._$state.descriptor.relationships {
      if property.isToMany {
        mergeLists(property, model._$state, others.map { $0._$state })
      } else {
        mergeOnes(property, model._$state, others, survivor)
      }
    }
  }

  func apply(to state: _ModelState) {
    for (property, relation) in relations { state.setRelation(relation, property) }
    state.changed.formUnion(changed)
  }

  private mutating func mergeOnes(
    _ property: ModelProperty,
    _ state: _ModelState,
    _ others: [any PersistentModel],
    _ survivor: (any PersistentModel) -> any PersistentModel
  ) {
    var own = state.destination(property)
    var isChanged = false
    for other in others.reversed() {
      let theirs = other._$state.destination(property)
      let isUntouched = other._$state.isUntouched(property)
      guard let kept = own else {
        if isUntouched { continue }
        own = theirs
        isChanged = true
        continue
      }
      // It is saved even if it is the same, because others may have set another one meanwhile. The place in its list stays then.
      isChanged = true
      guard let inverse = property.inverse, let end = theirs.map(survivor), end !== survivor(kept)
      else { continue }
      end._$state.removeOther(other, inverse, of: end)
    }
    if isChanged { set(.one(own), property) }
  }

  /// Concatenates the lists, in time that does not grow with the square of their number.
  private mutating func mergeLists(
    _ property: ModelProperty,
    _ state: _ModelState,
    _ others: [_ModelState]
  ) {
    let own = state.destinations(property)
    guard let first = others.first, !own.isEmpty || !first.isUntouched(property) else { return }
    // A stored list need not be known to add to it.
    let isRead = !property.isDerivable || !first.isUntouched(property)
    let theirs = isRead ? first.destinations(property) : []
    var known = Set(theirs.map { ObjectIdentifier($0) })
    var new: [any PersistentModel] = []
    for models in others.dropFirst().map({ $0.destinations(property) }) + [own] {
      new += models.filter { known.insert(ObjectIdentifier($0)).inserted }
    }
    let list = property.makeList(isRead ? theirs + new : [])
    list.isLoaded = isRead
    list.epoch = first.listEpoch
    list.added = OrderedModels(new)
    if isRead, case .many(let former) = first.relation(property) {
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
  /// Whether the store still has the relationship unchanged.
  fileprivate func isUntouched(_ property: ModelProperty) -> Bool {
    flags.contains(.stored) && !changed.contains(property.ordinal)
  }
}

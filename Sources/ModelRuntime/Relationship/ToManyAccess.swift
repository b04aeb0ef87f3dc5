import RowFormat

// What the accessors of to-many relationships call.

extension _ModelState {
  /// The models at the other end of a to-many relationship, in order.
  ///
  /// The models are there at once; a row is read when something is asked of one of them.
  func destinations<D: PersistentModel>(
    _ ordinal: Int,
    of model: some PersistentModel,
    as: D.Type
  ) -> [D] {
    let property = descriptor(of: model).properties[ordinal]
    if case .many(let list) = relation(property), let list = list as? RelatedModelsOf<D> {
      return list.members
    }
    return (relatedModels(property) as? RelatedModelsOf<D>)?.members ?? []
  }

  func destinations(_ property: ModelProperty) -> [any PersistentModel] {
    relatedModels(property)?.models ?? []
  }

  /// The list of a to-many relationship, loaded now if it has not been yet; `nil` if there is nothing to
  /// load it from.
  private func relatedModels(_ property: ModelProperty) -> RelatedModels? {
    switch relation(property) {
    case .many(let list): return list
    case .one: return nil
    case .unloaded:
      guard flags.contains(.stored), let context, let connection else { return nil }
      let list = property.makeList(context.loadDestinations(of: self, property, in: connection))
      setRelation(.many(list), property)
      return list
    }
  }

  /// The list of a to-many relationship, to be changed.
  private func changeableList(_ property: ModelProperty) -> RelatedModels {
    if let list = relatedModels(property) { return list }
    let list = property.makeList([])
    setRelation(.many(list), property)
    return list
  }

  // MARK: Changing

  /// Replaces the models of a to-many relationship and moves their other ends.
  ///
  /// The list is a set: a model that stands in it twice is kept once, at its first place.
  func setDestinations<D: PersistentModel>(
    _ destinations: [D],
    _ ordinal: Int,
    of model: some PersistentModel
  ) {
    let property = descriptor(of: model).properties[ordinal]
    guard let list = changeableList(property) as? RelatedModelsOf<D> else { return }
    if list.shares(destinations) { return }
    let change = ListChange(from: list.members, to: destinations)
    if change.isEmpty { return }
    registerUndo(of: property, in: model)
    noteChange(ordinal)
    let added = list.added.filter { member in !change.removed.contains { $0 === member } }
    list.replace(with: change.result)
    list.added = added + change.added
    if change.isReordered { reordered.insert(ordinal) }
    if let inverse = property.inverse {
      for removed in change.removed { removed._$state.removeOther(model, inverse, of: removed) }
      for added in change.added { added._$state.insertOther(model, inverse, of: added) }
    }
    for added in change.added { connect(model, added) }
  }

  /// Lends a list out to be changed in place.
  func lendDestinations<D: PersistentModel>(
    in variable: UnsafeRawPointer,
    _ ordinal: Int,
    of model: some PersistentModel,
    as: D.Type
  ) -> (list: [D], modification: _ListModification) {
    let property = descriptor(of: model).properties[ordinal]
    guard let list = changeableList(property) as? RelatedModelsOf<D> else {
      return ([], _ListModification())
    }
    list.makeDistinct()
    let modification = _ListModification(variable, of: list) { added in
      self.willAppend(added, property, of: model, list)
    }
    return (list.members, modification)
  }

  /// Does what appending a model to a list means for everything but the list.
  ///
  /// - Returns: Whether the model is to be appended: not if it is a member already.
  private func willAppend(
    _ other: any PersistentModel,
    _ property: ModelProperty,
    of model: some PersistentModel,
    _ list: RelatedModels
  ) -> Bool {
    let state = other._$state
    state.adoptInitialRelationships(of: other)
    if let inverse = property.inverse, property.isDerivable {
      if state.linkedModel(inverse) === model { return false }
    } else if list.contains(other) {
      return false
    }
    registerUndo(of: property, in: model)
    noteChange(property.ordinal)
    if let inverse = property.inverse { state.insertOther(model, inverse, of: other) }
    connect(model, other)
    return true
  }
}

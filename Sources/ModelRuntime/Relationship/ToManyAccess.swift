import RowFormat

// The functions behind the accessors of to-many relationships.

extension _ModelState {
  /// The models at the other end of a to-many relationship, in order.
  ///
  /// The models are returned at once; a row is read on the first access to a value.
  func destinations<D: PersistentModel>(
    _ ordinal: Int,
    of model: some PersistentModel,
    as: D.Type
  ) -> [D] {
    let property = descriptor(of: model).properties[ordinal]
    guard let list = relatedModels(property) else { return [] }
    if let list = list as? RelatedModelsOf<D> { return list.members }
    reportOtherVersion(property)
    return []
  }

  func destinations(_ property: ModelProperty) -> [any PersistentModel] {
    relatedModels(property)?.models ?? []
  }

  /// The list of a to-many relationship, loaded now if the one in memory may be out of date; `nil` if there
  /// is nothing to load it from.
  func relatedModels(_ property: ModelProperty) -> RelatedModels? {
    switch relation(property) {
    case .many(let list):
      if list.isLent && list.isLoaded || isCurrent(list, property),
        learnsDeletions(list, property)
      {
        return list
      }
      load(list, property)
      return list
    case .one: return nil
    case .unloaded:
      guard flags.contains(.stored), let context, connection != nil else { return nil }
      if isDeleted, context.hasRowsTakenAlong {
        context.makeModelsTakenAlong()
        return relatedModels(property)
      }
      let list = listToChange(property)
      load(list, property)
      return list
    }
  }

  /// The list of a to-many relationship, to be changed.
  private func changeableList(_ property: ModelProperty) -> RelatedModels {
    relatedModels(property) ?? listToChange(property)
  }

  /// Whether an optional list that was set to nil is nil: a row, and a model that is to become one, have lists that
  /// are empty and none that are missing.
  var mayLackLists: Bool { context == nil && !flags.contains(.stored) }

  // MARK: Changing

  /// Moves the list that an initializer set into the relationship.
  ///
  /// An empty one is ignored where the list is of another version's class: members may have been linked already.
  func adoptDestinations<D: PersistentModel>(
    _ destinations: [D],
    _ ordinal: Int,
    of model: some PersistentModel
  ) {
    if destinations.isEmpty, !descriptor(of: model).properties[ordinal].isDeclaredSo { return }
    setDestinations(destinations, ordinal, of: model)
  }

  /// Replaces the models of a to-many relationship and moves their other ends.
  ///
  /// The list is a set: a duplicate is dropped, and the first place kept.
  func setDestinations<D: PersistentModel>(
    _ destinations: [D],
    _ ordinal: Int,
    of model: some PersistentModel
  ) {
    if context == nil,
      !isChangedInPlace(descriptor(of: model).properties[ordinal], to: destinations)
    {
      for other in destinations { join(other, of: model) }
    }
    let property = descriptor(of: model).properties[ordinal]
    // The list may come to hold the last model that keeps the context.
    let keeper = context
    defer { withExtendedLifetime(keeper) {} }
    guard let list = changeableList(property) as? RelatedModelsOf<D> else {
      return reportOtherVersion(property)
    }
    // This is also how a change in place ends.
    defer { list.isLent = false }
    if list.shares(destinations) { return }
    var change = ListChange(from: list.members, to: destinations)
    if change.isEmpty { return }
    if change.added.contains(where: { !$0._$state.flags.contains(.adopted) }) {
      let former = list.members
      for added in change.added where mayRefer(to: added, through: property, of: model) {
        added._$state.adoptInitialRelationships(of: added)
      }
      if !list.shares(former) {
        let moved = ListChange(from: former, to: list.members)
        change = ListChange(from: list.members, to: moved.applied(to: destinations))
        if change.isEmpty { return }
      }
    }
    guard change.added.allSatisfy({ mayRefer(to: $0, through: property, of: model) }) else {
      return
    }
    refreshRows(of: change.added, comingInto: property)
    registerUndo(
      of: property,
      in: model,
      as: MembershipChange(added: change.added, removed: change.removed)
    )
    recordChange(ordinal)
    for removed in change.removed { list.recordRemoval(of: removed, property) }
    let hasGone = change.added.contains { $0._$state.isKnownGone }
    list.replace(with: hasGone ? change.result.filter { !$0._$state.isKnownGone } : change.result)
    for added in change.added {
      hold(added)
      recordReturn(of: added, to: list, property)
      if !hasGone || !list.added.contains(added) { list.added.append(added) }
    }
    if change.isReordered { list.takeOrder() }
    readRows(of: change.removed + change.added, at: property)
    if let inverse = property.inverse {
      for removed in change.removed { removed._$state.removeOther(model, inverse, of: removed) }
      for added in change.added { added._$state.insertOther(model, inverse, of: added) }
    }
    for added in change.added { connect(model, added) }
  }

  /// Whether a list that is being set has been changed in place, each of its members when it was added.
  private func isChangedInPlace<D: PersistentModel>(
    _ property: ModelProperty,
    to members: [D]
  ) -> Bool {
    guard case .many(let list) = relation(property) else { return false }
    return list.isLent && (list as? RelatedModelsOf<D>)?.shares(members) ?? false
  }

  /// Reads again the rows of models that are added to a list and already name its owner: others have removed them, and
  /// the rows are outdated.
  private func refreshRows(of others: [any PersistentModel], comingInto property: ModelProperty) {
    guard property.isDerivable, let inverse = property.inverse, flags.contains(.stored),
      let context, let connection
    else { return }
    let outdated = others.map { $0._$state }.filter { state in
      guard case .unloaded = state.relation(inverse) else { return false }
      return state.connection === connection && state.storedReference(inverse) == reference
    }
    context.refreshRows(of: outdated, from: connection)
  }

  /// Lends a list to be changed in place.
  func lendDestinations<D: PersistentModel>(
    in variable: UnsafeRawPointer,
    _ ordinal: Int,
    of model: some PersistentModel,
    as: D.Type
  ) -> (list: [D], modification: _ListModification) {
    let property = descriptor(of: model).properties[ordinal]
    // The list may come to hold the last model that keeps the context: it lives as long as the loan.
    let keeper = context
    guard let list = changeableList(property) as? RelatedModelsOf<D> else {
      reportOtherVersion(property)
      return ([], _ListModification())
    }
    list.makeDistinct()
    list.isLent = true
    let modification = unsafe _ListModification(variable, of: list, property) { change in
      withExtendedLifetime(keeper) {
        switch change {
        case .adding(let added): self.willAdd(added, property, of: model, list)
        case .removing(let removed): self.willRemove(removed, property, of: model, list)
        case .reordering: self.willReorder(property, of: model)
        }
      }
    }
    return (list.members, modification)
  }

  /// Applies the effects of adding a model to a list, except those on the list itself.
  ///
  /// - Returns: Whether to add the model: not if it is a member already, or deleted.
  private func willAdd(
    _ other: any PersistentModel,
    _ property: ModelProperty,
    of model: some PersistentModel,
    _ list: RelatedModels
  ) -> Bool {
    var property = property
    if context == nil {
      join(other, of: model)
      property = descriptor.properties[property.ordinal]
    }
    guard mayRefer(to: other, through: property, of: model) else { return false }
    let state = other._$state
    state.adoptInitialRelationships(of: other)
    if let inverse = property.inverse, property.isDerivable {
      if state.linkedModel(inverse) === model {
        if case .one = state.relation(inverse) { return false }
        if list.contains(other) { return false }
        refreshRows(of: [other], comingInto: property)
      }
    } else if list.contains(other) || list.added.contains(other) {
      return false
    }
    registerUndo(ofAdding: other, to: property, list, in: model)
    recordChange(property.ordinal)
    hold(other)
    recordReturn(of: other, to: list, property)
    if let inverse = property.inverse { state.insertOther(model, inverse, of: other) }
    connect(model, other)
    if state.isKnownGone {
      list.enter(other)
      return false
    }
    return true
  }

  /// Applies the effects of removing a model from a list, except those on the list itself.
  private func willRemove(
    _ other: any PersistentModel,
    _ property: ModelProperty,
    of model: some PersistentModel,
    _ list: RelatedModels
  ) -> Bool {
    registerUndo(ofRemoving: other, from: property, list, in: model)
    recordChange(property.ordinal)
    if let inverse = property.inverse { other._$state.removeOther(model, inverse, of: other) }
    return true
  }

  /// Applies the effects of giving a list another order, except those on the list itself.
  private func willReorder(_ property: ModelProperty, of model: some PersistentModel) -> Bool {
    registerUndo(of: property, in: model, as: MembershipChange(added: [], removed: []))
    recordChange(property.ordinal)
    return true
  }
}

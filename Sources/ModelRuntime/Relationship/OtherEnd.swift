import RowFormat
import SchedulePoints

// What setting one end of a relationship does to the other.

extension _ModelState {
  /// Adds a model to this end of a relationship, because the other end was set.
  func insertOther(
    _ other: any PersistentModel,
    _ property: ModelProperty,
    of model: some PersistentModel
  ) {
    let mayKnowOther = !flags.contains(.adopted) || !property.isDerivable
    adoptInitialRelationships(of: model)
    if property.isToMany {
      let list = listToChange(property)
      if mayKnowOther {
        if list.added.contains(other) { return }
        if list.isLoaded, list.contains(other) {
          // The members of a list that is stored at both ends may be older here than at the end that was set: an
          // addition that only one end notes would be saved at that end only.
          if property.isDerivable || !flags.contains(.stored) { return }
          return keepOther(other, property, of: model)
        }
      } else if list.isLoaded, !list.isCurrent(at: listEpoch), list.contains(other) {
        // Another context has taken the member out since the list was put together: now it is put in again.
        return keepOther(other, property, of: model)
      }
      registerUndo(ofAdding: other, to: property, list, in: model)
      recordChange(property.ordinal)
      hold(other)
      recordReturn(of: other, to: list, property)
      list.enter(other)
    } else {
      let previous = linkedModel(property)
      registerUndo(of: property, in: model)
      recordChange(property.ordinal)
      if hasNullified { nullified[property.ordinal] = nil }
      setRelation(.one(other), property)
      if let previous, previous !== other, let inverse = property.inverse {
        previous._$state.removeOther(model, inverse, of: previous)
      }
    }
    property.notify(model)
  }

  /// Reads in one request the rows of models whose to-one ends are about to be changed one by one.
  func readRows(of others: [any PersistentModel], at property: ModelProperty) {
    guard others.count > 1, let inverse = property.inverse, !inverse.isToMany, let context,
      let connection
    else { return }
    context.loadRows(
      of: others.map { $0._$state }.filter { $0.connection === connection },
      from: connection
    )
  }

  /// Keeps a model at this end of a relationship, because the other end was set to what it was.
  ///
  /// Should others change that meanwhile, what was set here is set all the same.
  func keepOther(
    _ other: any PersistentModel,
    _ property: ModelProperty,
    of model: some PersistentModel
  ) {
    if PlantedFault.forgottenMember.isPlanted { return }
    guard property.isToMany else { return insertOther(other, property, of: model) }
    let list = listToChange(property)
    if list.added.contains(other) { return }
    context?.registerUndo(ofKeeping: other, in: property, list, of: model)
    recordChange(property.ordinal)
    hold(other)
    list.added.append(other)
    if list.isLoaded, !other._$state.isKnownGone, !list.contains(other) { list.append(other) }
    property.notify(model)
  }

  /// Records that a model returns to a list that it left since the last save: it becomes the last member, and what
  /// comes after it stays behind it, even if others have added that too.
  func recordReturn(
    of other: any PersistentModel,
    to list: RelatedModels,
    _ property: ModelProperty
  ) {
    guard flags.contains(.stored) else { return }
    let state = other._$state
    // A save of another context that was merged drops the row.
    if property.isDerivable { state.loadRow() }
    let isReturn =
      property.isDerivable
      ? property.inverse.map { state.storedReference($0) == reference } ?? false
      : !list.removed.isEmpty && list.removed.contains(other)
    if isReturn || !list.returned.isEmpty { list.returned.insert(ObjectIdentifier(other)) }
  }

  /// What the row in memory names at a to-one end, whatever was set since.
  func storedReference(_ property: ModelProperty) -> RowReference? {
    guard unsafe row != nil, flags.contains(.stored) else { return nil }
    let row = currentRow
    return row.isNull(property.ordinal)
      ? nil : row.layout.reference(property.ordinal, in: row.span)
  }

  /// The rank that the row in memory has in an owner's list; `nil` if it refers to another model, or to none.
  func storedRank(_ property: ModelProperty, at owner: _ModelState) -> Int64? {
    guard let column = descriptor.rankColumns[property.ordinal], owner.flags.contains(.stored),
      storedReference(property) == owner.reference
    else { return nil }
    let row = currentRow
    return row.isNull(column) ? nil : row.layout.integer(column, in: row.span)
  }

  /// Takes a model out of this end of a relationship, because the other end was set elsewhere.
  func removeOther(
    _ other: any PersistentModel,
    _ property: ModelProperty,
    of model: some PersistentModel
  ) {
    if property.isToMany {
      let list = listToChange(property)
      registerUndo(ofRemoving: other, from: property, list, in: model)
      recordChange(property.ordinal)
      list.leave(other, property)
    } else if isLinked(to: other, property) {
      let wasSet = changed.contains(property.ordinal)
      registerUndo(of: property, in: model)
      recordChange(property.ordinal)
      setRelation(.one(nil), property)
      if property.isPaired, !wasSet { recordNullification(property) }
    } else {
      return
    }
    property.notify(model)
  }

  /// The list, to be changed at this end only: one that is in the store is not put together for this.
  func listToChange(_ property: ModelProperty) -> RelatedModels {
    if case .many(let list) = relation(property) { return list }
    let list = property.makeList([])
    list.isLoaded = !flags.contains(.stored)
    list.epoch = listEpoch
    setRelation(.many(list), property)
    return list
  }

  /// Brings both ends of a new link into one context.
  func connect(_ model: some PersistentModel, _ other: some PersistentModel) {
    if let context, other._$state.context == nil, !other._$state.isDeleted {
      context.insert(other)
    } else if context == nil, let context = other._$state.context, !isDeleted {
      context.insert(model)
    }
  }

  /// Whether a relationship may lead to a model: not if another context has it.
  ///
  /// That one may be used by another thread at this moment, so nothing of it is changed; the next fetch or save says
  /// what is wrong, because a setter cannot.
  func mayRefer(
    to other: some PersistentModel,
    through property: ModelProperty,
    of model: some PersistentModel
  ) -> Bool {
    guard let context, let home = other.modelContext, home !== context else { return true }
    context.deferredError =
      context.deferredError
      ?? SwiftDataError.relationshipAcrossContexts(
        of: model.persistentModelID,
        property: property.name,
        to: other.persistentModelID
      )
    return false
  }

  /// Records that a relationship holds a model from now on: then the model does not keep the context.
  ///
  /// So no ring of models that hold each other holds a context too, and with it the store.
  func hold(_ other: any PersistentModel) {
    if other._$fetchedRow.holder == .relationship { return }
    let state = other._$state
    if state.flags.contains(.isHeld) { return }
    state.flags.insert(.isHeld)
    state.context?.letGo(of: state)
  }
}

import RowFormat
import SchedulePoints

// The effects of setting one end of a relationship on the other.

extension _ModelState {
  /// Adds a model to this end of a relationship, because the other end was set.
  func insertOther(
    _ other: any PersistentModel,
    _ property: ModelProperty,
    of model: some PersistentModel
  ) {
    let mayKnowOther = mayKnowOther(property)
    adoptInitialRelationships(of: model)
    if property.isToMany {
      let list = listToChange(property)
      if mayKnowOther {
        if list.added.contains(other) { return }
        if list.isLoaded, list.contains(other) {
          // The members of a list that is stored at both ends may be older here than at the end that was set: an
          // addition recorded at one end only would be saved at that end only.
          if property.isDerivable || !flags.contains(.stored) { return }
          return keepOther(other, property, of: model, wasRelated: false)
        }
      } else if list.isLoaded, !list.isCurrent(at: listEpoch), list.contains(other) {
        // Another context has removed the member since the list was loaded: now it is added again.
        return keepOther(other, property, of: model, wasRelated: false)
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

  /// Reads in one request the rows of models that are about to lose the object, as far as they are not in memory or others may
  /// have changed them: a stale row would not lead here, and its model would not know what it loses.
  func readCurrentRows(of others: [any PersistentModel], at property: ModelProperty) {
    guard let inverse = property.inverse, !inverse.isToMany, let context, let connection else {
      return
    }
    let states = others.lazy.map { $0._$state }.filter { state in
      guard state.connection === connection, state.flags.contains(.stored) else { return false }
      guard unsafe state.row != nil else { return !state.flags.contains(.vanished) }
      return state.storedReference(inverse) != self.reference && context.hasOutdatedRow(state)
    }
    context.refreshRows(of: Array(states), from: connection)
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

  /// Keeps a model at this end of a relationship, because the other end was set to its old value.
  ///
  /// Even if others change that meanwhile, the value set here is saved.
  func keepOther(
    _ other: any PersistentModel,
    _ property: ModelProperty,
    of model: some PersistentModel,
    wasRelated: Bool = true
  ) {
    if PlantedFault.forgottenMember.isPlanted { return }
    guard property.isToMany else { return insertOther(other, property, of: model) }
    let list = listToChange(property)
    if list.added.contains(other) { return }
    context?.registerUndo(
      ofKeeping: other,
      in: property,
      list,
      of: model,
      wasRelated: wasRelated
    )
    recordChange(property.ordinal)
    hold(other)
    list.added.append(other)
    if list.isLoaded, !other._$state.isKnownGone, !list.contains(other) { list.append(other) }
    property.notify(model)
  }

  /// Records that a model returns to a list that it left since the last save: it becomes the last member, and members
  /// added after it stay after it, even if others have added it too.
  func recordReturn(
    of other: any PersistentModel,
    to list: RelatedModels,
    _ property: ModelProperty
  ) {
    guard flags.contains(.stored) else { return }
    let state = other._$state
    // Merging a save of another context drops the row.
    if property.isDerivable { state.loadRow() }
    let isReturn =
      property.isDerivable
      ? property.inverse.map { state.storedReference($0) == reference } ?? false
      : !list.removed.isEmpty && list.removed.contains(other)
    if isReturn || !list.returned.isEmpty { list.returned.insert(ObjectIdentifier(other)) }
  }

  /// The reference of a to-one end in the row in memory, whatever was set since.
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

  /// Removes a model from this end of a relationship, because the other end was set elsewhere.
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

  /// The list, to be changed at this end only: a stored list is not loaded for this.
  func listToChange(_ property: ModelProperty) -> RelatedModels {
    if case .many(let list) = relation(property), property.isDeclaredSo { return list }
    let list = property.makeList([])
    // A list made before the object had a context has the declared class, and cannot hold another version's models.
    if case .many(let known) = relation(property), type(of: known) == type(of: list) {
      return known
    }
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

  /// Brings a new model into the context of a model that it is about to refer to, if the context's schema relates classes
  /// otherwise than they are declared: from then on its ends are those of the schema.
  func join(_ other: some PersistentModel, of model: some PersistentModel) {
    guard context == nil, let context = other._$state.context, context.coordinator.schema.isMixed,
      !isDeleted
    else { return }
    context.insert(model)
  }

  /// Whether a relationship may lead to a model: not if another context has it.
  ///
  /// The other context may be in use by another thread at this moment, so nothing of it is changed; the next fetch or save
  /// throws the error, because a setter cannot.
  func mayRefer(
    to other: some PersistentModel,
    through property: ModelProperty,
    of model: some PersistentModel
  ) -> Bool {
    guard let context else { return true }
    if !property.isDeclaredSo, !property.canLead(to: .of(type(of: other))) {
      reportOtherVersion(property)
      return false
    }
    guard let home = other.modelContext, home !== context else { return true }
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
  /// So no cycle of models that hold each other also holds a context, and with it the store.
  func hold(_ other: any PersistentModel) {
    if other._$fetchedRow.holder == .relationship { return }
    let state = other._$state
    if state.flags.contains(.isHeld) { return }
    state.flags.insert(.isHeld)
    state.context?.letGo(of: state)
  }
}

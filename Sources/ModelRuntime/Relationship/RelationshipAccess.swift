import RowFormat

// The functions behind the accessors of relationships: reading an end, and setting one.

extension _ModelState {
  // MARK: To-one

  /// The model at the other end of a to-one relationship.
  func destination<D: PersistentModel>(
    _ ordinal: Int,
    of model: some PersistentModel,
    as: D.Type
  ) -> D? {
    let property = descriptor(of: model).properties[ordinal]
    guard let found = destination(property) else { return nil }
    if let found = found as? D { return found }
    reportOtherVersion(property)
    return nil
  }

  /// Notes that a relationship was used by its Swift type, which is a class of another version than the one it leads to here:
  /// the context's next fetch or save throws the error, because an accessor cannot.
  func reportOtherVersion(_ property: ModelProperty) {
    guard let context, !property.isDeclaredSo else { return }
    context.deferredError =
      context.deferredError ?? SwiftDataError.otherVersion(at: property, of: descriptor)
  }

  /// The model at the other end of a to-one relationship that cannot be nil.
  ///
  /// If it is nil nevertheless (its model was deleted, or never set), an empty model replaces it,
  /// so that reading through a dangling relationship gives neutral values and no trap.
  func requiredDestination<D: PersistentModel>(
    _ ordinal: Int,
    of model: some PersistentModel,
    as: D.Type
  ) -> D {
    if let found = destination(ordinal, of: model, as: D.self) { return found }
    let placeholder = D(backingData: _EmptyBackingData<D>())
    placeholder._$state.flags.insert([.deleted, .vanished])
    return placeholder
  }

  /// The model at the other end, unless it is deleted.
  func destination(_ property: ModelProperty) -> (any PersistentModel)? {
    if context == nil, case .unloaded = relation(property) { return lastDestination(property) }
    guard let model = linkedModel(property), !model._$state.isKnownGone else { return nil }
    // The partner of a deleted model has let go of it, and the model's own end stays.
    if property.isPaired, !isDeleted, case .unloaded = relation(property),
      let inverse = property.inverse,
      model._$state.hasLeft(self, through: inverse)
    {
      return nil
    }
    return model
  }

  /// The model at the other end, deleted or not, whose own end must be moved.
  func linkedModel(_ property: ModelProperty) -> (any PersistentModel)? {
    switch relation(property) {
    case .one(let model): return model
    case .many: return nil
    case .unloaded:
      guard flags.contains(.stored), let context, let connection else { return nil }
      loadRow()
      let row = currentRow
      guard !row.isNull(property.ordinal) else { return nil }
      let reference = row.layout.reference(property.ordinal, in: row.span)
      guard property.canLead(to: connection.descriptor(of: reference)) else { return nil }
      let model = context.model(at: reference, in: connection)
      if connection.loadsSiblings {
        context.noteOrigin(of: reference, self, property, in: connection)
      }
      // Without an inverse, this end was not notified that the other was deleted, here or by others.
      if property.inverse == nil, let model {
        if !connection.loadsSiblings { context.refreshRow(of: model._$state, from: connection) }
        if !model._$state.exists() { return nil }
      }
      return model
    }
  }

  /// Whether a model is at the other end, deleted or not.
  func isLinked(to other: any PersistentModel, _ property: ModelProperty) -> Bool {
    let end = other._$state
    if case .unloaded = relation(property), let connection, !connection.loadsSiblings,
      end.connection === connection, end.context === context,
      flags.contains(.stored), end.flags.contains(.stored), property.inverse != nil
    {
      // A row has one object in a context, so no look-up is needed.
      loadRow()
      return storedReference(property) == end.reference
    }
    return linkedModel(property) === other
  }

  /// Sets a to-one relationship and moves its other ends.
  func setDestination<D: PersistentModel>(
    _ destination: D?,
    _ ordinal: Int,
    of model: some PersistentModel
  ) {
    if let destination { join(destination, of: model) }
    let property = descriptor(of: model).properties[ordinal]
    setDestination(destination, property, of: model)
  }

  func setDestination(
    _ destination: (any PersistentModel)?,
    _ property: ModelProperty,
    of model: some PersistentModel
  ) {
    if let destination, !mayRefer(to: destination, through: property, of: model) { return }
    // The relationship may come to hold the last model that keeps the context.
    let keeper = context
    defer { withExtendedLifetime(keeper) {} }
    let old = linkedModel(property)
    let wasSet = changed.contains(property.ordinal)
    // A new model's nil that is set to nil is no change: undoing it later would take away what others have set since.
    if old !== destination || flags.contains(.stored) { registerUndo(of: property, in: model) }
    recordChange(property.ordinal)
    if hasNullified { nullified[property.ordinal] = nil }
    setRelation(.one(destination), property)
    if old === destination {
      if let destination, let inverse = property.inverse, flags.contains(.stored), !wasSet {
        destination._$state.keepOther(model, inverse, of: destination)
      }
      return
    }
    if let inverse = property.inverse {
      if let old { old._$state.removeOther(model, inverse, of: old) }
      if let destination {
        destination._$state.insertOther(model, inverse, of: destination)
      }
    }
    if let destination { connect(model, destination) }
  }
}

extension _ModelState {
  /// Whether the model's end of a one-to-one was set here to another model than the store has.
  fileprivate func hasLeft(_ other: _ModelState, through property: ModelProperty) -> Bool {
    guard changed.contains(property.ordinal), case .one(let current) = relation(property) else {
      return false
    }
    return current?._$state !== other
  }
}

extension _ModelState {
  // MARK: Storage

  func relation(_ property: ModelProperty) -> Relation {
    property.relationIndex < relations.count ? relations[property.relationIndex] : .unloaded
  }

  func setRelation(_ relation: Relation, _ property: ModelProperty) {
    if case .one(let destination?) = relation { hold(destination) }
    if property.relationIndex < relations.count {
      relations[property.relationIndex] = relation
    } else if descriptor.relationships.count == 1 {
      relations = [relation]
    } else {
      // Built as a separate array, so that nothing is allocated twice.
      var all = relations
      all.reserveCapacity(descriptor.relationships.count)
      while all.count < descriptor.relationships.count { all.append(.unloaded) }
      all[property.relationIndex] = relation
      relations = all
    }
    if case .many = relation { recordLists() }
  }
}

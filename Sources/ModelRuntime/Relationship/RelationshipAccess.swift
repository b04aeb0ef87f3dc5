import RowFormat

// What the accessors of relationships call: reading an end, and setting one.

extension _ModelState {
  // MARK: To-one

  /// The model at the other end of a to-one relationship.
  func destination<D: PersistentModel>(
    _ ordinal: Int,
    of model: some PersistentModel,
    as: D.Type
  ) -> D? {
    let property = descriptor(of: model).properties[ordinal]
    return destination(property) as? D
  }

  /// The model at the other end of a to-one relationship that cannot be nil.
  ///
  /// When it is nil all the same (its model was deleted, or never set) an empty model stands in,
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
    guard let model = linkedModel(property), !model._$state.isDeleted else { return nil }
    return model
  }

  /// The model at the other end, deleted or not: the one whose own end has to be moved.
  private func linkedModel(_ property: ModelProperty) -> (any PersistentModel)? {
    switch relation(property) {
    case .one(let model): return model
    case .many: return nil
    case .unloaded:
      guard flags.contains(.stored), let context, let connection else { return nil }
      loadRow()
      let row = currentRow
      guard !row.isNull(property.ordinal) else { return nil }
      let reference = row.layout.reference(property.ordinal, in: row.span)
      return context.model(at: reference, in: connection)
    }
  }

  /// Sets a to-one relationship and moves its other ends.
  func setDestination<D: PersistentModel>(
    _ destination: D?,
    _ ordinal: Int,
    of model: some PersistentModel
  ) {
    let property = descriptor(of: model).properties[ordinal]
    setDestination(destination, property, of: model)
  }

  func setDestination(
    _ destination: (any PersistentModel)?,
    _ property: ModelProperty,
    of model: some PersistentModel
  ) {
    let old = linkedModel(property)
    noteChange(property.ordinal)
    setRelation(.one(destination), property)
    if old === destination { return }
    if let inverse = property.inverse {
      if let old { old._$state.removeOther(model, inverse, of: old) }
      if let destination {
        destination._$state.insertOther(model, inverse, of: destination)
      }
    }
    if let destination { connect(model, destination) }
  }

  // MARK: To-many

  /// The models at the other end of a to-many relationship, in order.
  func destinations<D: PersistentModel>(
    _ ordinal: Int,
    of model: some PersistentModel,
    as: D.Type
  ) -> [D] {
    let property = descriptor(of: model).properties[ordinal]
    return destinations(property).compactMap { $0 as? D }
  }

  func destinations(_ property: ModelProperty) -> [any PersistentModel] {
    switch relation(property) {
    case .many(let models): return models
    case .one: return []
    case .unloaded:
      guard flags.contains(.stored), let context, let connection else { return [] }
      let models = context.loadDestinations(of: self, property, in: connection)
      setRelation(.many(models), property)
      return models
    }
  }

  /// Replaces the models of a to-many relationship and moves their other ends.
  ///
  /// The list is a set: a model that stands in it twice is kept once, at its first place.
  func setDestinations<D: PersistentModel>(
    _ destinations: [D],
    _ ordinal: Int,
    of model: some PersistentModel
  ) {
    let property = descriptor(of: model).properties[ordinal]
    let old = self.destinations(property)
    var kept: Set<ObjectIdentifier> = []
    let new = destinations.filter { kept.insert(ObjectIdentifier($0)).inserted }
    noteChange(ordinal)
    setRelation(.many(new), property)
    let before = Set(old.map { ObjectIdentifier($0) })
    if !keepsOrder(from: old, to: new, before: before, kept: kept) { reordered.insert(ordinal) }
    if let inverse = property.inverse {
      for removed in old where !kept.contains(ObjectIdentifier(removed)) {
        removed._$state.removeOther(model, inverse, of: removed)
      }
      for added in new where !before.contains(ObjectIdentifier(added)) {
        added._$state.insertOther(model, inverse, of: added)
      }
    }
    for added in new where !before.contains(ObjectIdentifier(added)) { connect(model, added) }
  }

  /// Whether a list was changed only by removing members and appending others.
  private func keepsOrder(
    from old: [any PersistentModel],
    to new: [any PersistentModel],
    before: Set<ObjectIdentifier>,
    kept: Set<ObjectIdentifier>
  ) -> Bool {
    var index = 0
    for member in old where kept.contains(ObjectIdentifier(member)) {
      if new[index] !== member { return false }
      index += 1
    }
    return true
  }

  // MARK: The other end

  /// Adds a model to this end of a relationship, because the other end was set.
  private func insertOther(
    _ other: any PersistentModel,
    _ property: ModelProperty,
    of model: some PersistentModel
  ) {
    adoptInitialRelationships(of: model)
    if property.isToMany {
      noteChange(property.ordinal)
      switch relation(property) {
      case .many(var models):
        setRelation(.unloaded, property)  // so that the append below is in place
        models.append(other)
        setRelation(.many(models), property)
      case .unloaded, .one:
        // A list in the store is not read for this: it is put together when it is asked for.
        if property.isDerivable && flags.contains(.stored) { break }
        var models = destinations(property)
        if !models.contains(where: { $0 === other }) { models.append(other) }
        setRelation(.many(models), property)
      }
    } else {
      let previous = linkedModel(property)
      noteChange(property.ordinal)
      setRelation(.one(other), property)
      if let previous, previous !== other, let inverse = property.inverse {
        previous._$state.removeOther(model, inverse, of: previous)
      }
    }
    property.notify(model)
  }

  /// Takes a model out of this end of a relationship, because the other end was set elsewhere.
  func removeOther(
    _ other: any PersistentModel,
    _ property: ModelProperty,
    of model: some PersistentModel
  ) {
    if property.isToMany {
      noteChange(property.ordinal)
      switch relation(property) {
      case .many(var models):
        setRelation(.unloaded, property)
        models.removeAll { $0 === other }
        setRelation(.many(models), property)
      case .unloaded, .one:
        if property.isDerivable && flags.contains(.stored) { break }
        setRelation(.many(destinations(property).filter { $0 !== other }), property)
      }
    } else if linkedModel(property) === other {
      noteChange(property.ordinal)
      setRelation(.one(nil), property)
    } else {
      return
    }
    property.notify(model)
  }

  /// Brings both ends of a new link into one context.
  private func connect(_ model: some PersistentModel, _ other: some PersistentModel) {
    if let context, other._$state.context == nil, !other._$state.isDeleted {
      context.insert(other)
    } else if context == nil, let context = other._$state.context, !isDeleted {
      context.insert(model)
    }
  }

  // MARK: Storage

  func relation(_ property: ModelProperty) -> Relation {
    property.relationIndex < relations.count ? relations[property.relationIndex] : .unloaded
  }

  func setRelation(_ relation: Relation, _ property: ModelProperty) {
    while relations.count <= property.relationIndex { relations.append(.unloaded) }
    relations[property.relationIndex] = relation
  }

  /// Takes over the relationships that an initializer set, before the object had a state to tell.
  func adoptInitialRelationships(of model: some PersistentModel) {
    guard !flags.contains(.adopted) else { return }
    flags.insert(.adopted)
    model._$adopt()
  }
}

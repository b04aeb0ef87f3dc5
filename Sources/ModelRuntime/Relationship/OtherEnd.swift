import RowFormat

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
      registerUndo(of: property, in: model)
      noteChange(property.ordinal)
      // A list in the store is not read for this: it is put together when it is asked for.
      if let list = listAtHand(property), !(mayKnowOther && list.contains(other)) {
        list.append(other)
      }
    } else {
      let previous = linkedModel(property)
      registerUndo(of: property, in: model)
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
      registerUndo(of: property, in: model)
      noteChange(property.ordinal)
      listAtHand(property)?.remove(other)
    } else if linkedModel(property) === other {
      registerUndo(of: property, in: model)
      noteChange(property.ordinal)
      setRelation(.one(nil), property)
    } else {
      return
    }
    property.notify(model)
  }

  /// The list, unless it is in the store and can be put together later.
  private func listAtHand(_ property: ModelProperty) -> RelatedModels? {
    if case .many(let list) = relation(property) { return list }
    if property.isDerivable && flags.contains(.stored) { return nil }
    let list = property.makeList(destinations(property))
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
}

import RowFormat

extension ModelContext {
  /// Checks the rules of models before they are written.
  ///
  /// - Throws: An error that names the model, the property and the rule it breaks.
  func validate(_ changes: ChangeSet) throws {
    for model in [changes.inserted, changes.updated].joined() {
      let state = model._$state
      for property in state.descriptor.relationships {
        guard state.flags.contains(.inserted) || state.changed.contains(property.ordinal) else {
          continue
        }
        state.adoptInitialRelationships(of: model)
        try checkUnsavedDenials(of: property, in: model)
        if property.isToMany {
          try checkCount(of: property, in: model)
        } else if !property.isOptional, state.destination(property) == nil {
          throw SwiftDataError.missingRelationship(
            of: model.persistentModelID,
            property: property.name
          )
        }
      }
    }
  }

  /// Throws if a relationship leads to a model that was deleted before it was saved, and whose rule denies that.
  ///
  /// Saved models are among the deleted ones, whose rules are checked separately.
  private func checkUnsavedDenials(
    of property: ModelProperty,
    in model: any PersistentModel
  ) throws {
    guard let inverse = property.inverse, inverse.deleteRule == .deny else { return }
    let deleted: (any PersistentModel)? =
      switch model._$state.relation(property) {
      case .unloaded: nil
      case .one(let other): other.flatMap { $0._$state.isUnsavedAndDeleted ? $0 : nil }
      case .many(let list): list.added.elements.first { $0._$state.isUnsavedAndDeleted }
      }
    guard let deleted else { return }
    // Others may have deleted the models in its way.
    if let connection = model._$state.connection {
      try readRows(of: [model._$state], in: connection)
      if model._$state.isGone { return }
    }
    throw SwiftDataError.deleteDenied(
      deleted.persistentModelID,
      property: inverse.name,
      by: model.persistentModelID,
      count: 1
    )
  }

  private func checkCount(of property: ModelProperty, in model: any PersistentModel) throws {
    guard let options = property.relationship else { return }
    let minimum = options.minimumModelCount ?? 0
    let maximum = options.maximumModelCount ?? 0
    guard minimum > 0 || maximum > 0 else { return }
    let count = model._$state.destinations(property).count
    if count < minimum || (maximum > 0 && count > maximum) {
      throw SwiftDataError.relationshipCount(
        of: model.persistentModelID,
        property: property.name,
        count: count,
        minimum: minimum,
        maximum: maximum
      )
    }
  }
}

extension _ModelState {
  /// Whether the model was deleted without ever having been saved.
  var isUnsavedAndDeleted: Bool { isDeleted && !flags.contains(.stored) }
}

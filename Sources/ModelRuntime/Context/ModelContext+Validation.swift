import RowFormat

extension ModelContext {
  /// Checks what must hold of a model before it is written.
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

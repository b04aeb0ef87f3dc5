/// What deleting an object does to those related to it.
enum DeletePropagation {
  /// Deletes an object and applies its rules; those it cascades to are handled the same way, one after
  /// the other, so neither long chains nor cycles are a problem.
  static func delete(_ model: any PersistentModel, from context: ModelContext) {
    var pending = [model]
    while let next = pending.popLast() {
      let state = next._$state
      guard !state.isDeleted, state.context === context else { continue }
      context.markDeleted(next)
      for property in state.descriptor.relationships {
        pending += apply(property, of: next)
      }
    }
  }

  /// Applies one relationship's rule.
  ///
  /// - Returns: The models that have to be deleted in turn.
  private static func apply(
    _ property: ModelProperty,
    of model: any PersistentModel
  ) -> [any PersistentModel] {
    let related = model._$state.related(property)
    // A delete that is saved takes the model's own end from memory, and undoing it needs that.
    model._$state.registerUndo(of: property, in: model)
    switch property.deleteRule {
    case .cascade:
      for other in related { detach(model, from: other, property) }
      return related
    case .nullify:
      for other in related { detach(model, from: other, property) }
      return []
    case .deny, .noAction:
      // Deny is looked at when saving: by then what stands in the way may be gone.
      return []
    }
  }

  private static func detach(
    _ model: any PersistentModel,
    from other: any PersistentModel,
    _ property: ModelProperty
  ) {
    guard let inverse = property.inverse, !other._$state.isDeleted else { return }
    other._$state.removeOther(model, inverse, of: other)
  }

  /// Throws if a deleted model may not go while others are related to it.
  ///
  /// - Throws: An error that names the model, the relationship and one of those in its way.
  static func checkDenials(_ deleted: [any PersistentModel]) throws {
    for model in deleted {
      for property in model._$state.descriptor.relationships where property.deleteRule == .deny {
        let blocking = model._$state.related(property).filter { !$0._$state.isDeleted }
        if let first = blocking.first {
          throw SwiftDataError.deleteDenied(
            model.persistentModelID,
            property: property.name,
            by: first.persistentModelID,
            count: blocking.count
          )
        }
      }
    }
  }
}

extension _ModelState {
  /// The models at the other end of a relationship, whichever kind it is.
  func related(_ property: ModelProperty) -> [any PersistentModel] {
    property.isToMany ? destinations(property) : destination(property).map { [$0] } ?? []
  }
}

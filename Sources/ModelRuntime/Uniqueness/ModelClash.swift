import RowFormat

/// A model that cannot be saved beside another, because both share unique values.
struct ModelClash {
  /// The other one.
  enum Holder {
    /// A model of the same save.
    case model(any PersistentModel)
    /// A row that the save does not touch, or whose key it leaves unchanged.
    case row(RowReference)
  }

  let model: any PersistentModel
  let holder: Holder
  let constraint: UniquenessConstraint
}

/// All clashes of one save of one store, which wrote nothing.
///
/// Thrown and caught inside one save, on its thread: so the models never leave their context.
struct ModelClashes: Error, @unchecked Sendable {
  let clashes: [ModelClash]
}

extension ModelClashes {
  /// Finds the models of clashing rows among the models of a save.
  init(_ rows: RowClashes, in changes: ChangeSet) {
    var models: [RowReference: any PersistentModel] = [:]
    for model in changes.inserted + changes.updated { models[model._$state.reference] = model }
    clashes = rows.clashes.compactMap { clash in
      models[clash.row].map { model in
        ModelClash(
          model: model,
          holder: models[clash.holder].map { .model($0) } ?? .row(clash.holder),
          constraint: clash.constraint
        )
      }
    }
  }
}

import RowFormat

// Following the to-one relationships of an object without a state. Nothing was set there, so the row determines them; and
// most objects whose relationships are followed are not changed, so a state for each would be wasted.

extension _FetchedRow {
  /// The model at the other end of a to-one relationship.
  ///
  /// - Returns: `nil` if only the object's state can answer.
  func destination<D: PersistentModel>(_ ordinal: Int, as type: D.Type) -> D?? {
    guard let home = unsafe home, let end = end(ordinal) else { return nil }
    guard let reference = end.reference else { return .some(nil) }
    let context = unsafe Unmanaged<ModelContext>.fromOpaque(home.context)
    return unsafe context._withUnsafeGuaranteedRef {
      .some($0.undeletedModel(at: reference, in: end.connection, as: type))
    }
  }

  /// The target row of a to-one relationship, and the store of both.
  ///
  /// - Returns: `nil` if only the object's state can answer; without a reference if the relationship is nil.
  func end(_ ordinal: Int) -> (reference: RowReference?, connection: StoreConnection)? {
    guard let row = unsafe stored, let home = unsafe home else { return nil }
    let isStored = unsafe Unmanaged<ModelDescriptor>.fromOpaque(home.descriptor)
      ._withUnsafeGuaranteedRef { ordinal < 63 && $0.storedToOnes.contains(ordinal) }
    let connection = unsafe Unmanaged<StoreConnection>.fromOpaque(home.connection)
      .takeUnretainedValue()
    // A remote store's request depends on the object that asks.
    guard isStored, !connection.loadsSiblings else { return nil }
    let view = unsafe _RowView(row)
    return (view.isNull(ordinal) ? nil : view.reference(ordinal), connection)
  }

  /// The target rows of a list that is stored with its owner, and the store of all.
  ///
  /// - Returns: `nil` if only the object's state can answer.
  func members(_ property: ModelProperty) -> (
    references: [RowReference], connection: StoreConnection
  )? {
    guard property.isToMany, !property.isDerivable, let row = unsafe stored,
      let home = unsafe home
    else { return nil }
    let connection = unsafe Unmanaged<StoreConnection>.fromOpaque(home.connection)
      .takeUnretainedValue()
    if connection.loadsSiblings { return nil }
    let view = unsafe _RowView(row)
    let isEmpty = view.isNull(property.ordinal)
    return (
      isEmpty ? [] : view.layout.references(property.ordinal, in: view.span), connection
    )
  }
}

extension ModelContext {
  /// The object for a row, unless it is deleted.
  fileprivate func undeletedModel<D: PersistentModel>(
    at reference: RowReference,
    in connection: StoreConnection,
    as type: D.Type
  ) -> D? {
    switch unsafe maps[connection.index].occupant(at: reference) {
    case .state(let state):
      return unsafe state._withUnsafeGuaranteedRef { $0.isKnownGone ? nil : $0.model(as: type) }
    case .fault(let fault):
      let object = unsafe fault.takeUnretainedValue()
      // The usual case, in which no class hierarchy is searched.
      if Swift.type(of: object) == type { return unsafe unsafeDowncast(object, to: type) }
    case nil: break
    }
    // Its object may be created now as one of those deleted with their owners.
    let mayBeGone = mayTakeAlong(reference)
    guard let model = model(at: reference, in: connection) as? D else { return nil }
    return mayBeGone && model._$state.isKnownGone ? nil : model
  }
}

import RowFormat

extension ModelContext {
  /// Makes the objects of a save read their derived attributes again, whose values only the store has.
  ///
  /// - Parameters:
  ///   - derived: Receives the rows that a store of snapshots was given only for derived attributes.
  ///   - changes: The changes that were saved.
  ///   - asked: The changes that the context had.
  ///   - connection: The store.
  func settle(
    _ derived: DerivedRows,
    of changes: ChangeSet,
    askedFor asked: ChangeSet,
    in connection: StoreConnection
  ) {
    if !connection.store.keepsRows {
      derived.updated = added(to: changes, askedFor: asked).map { $0._$state.reference }
    }
    for model in [changes.inserted, changes.updated].joined() {
      let state = model._$state
      let descriptor = state.descriptor
      guard descriptor.isDeriving else { continue }
      // With a store of snapshots, the object has the saved values.
      if connection.store.keepsRows { model._$reset(keeping: descriptor.underivedColumns) }
      guard state.isObserved else { continue }
      for property in descriptor.properties where property.isDerived { property.notify(model) }
    }
  }

  /// Makes the objects that were to be saved only for derived attributes read these from their rows again: the save has written
  /// nothing, and the next one compares them with what it computes.
  ///
  /// - Parameters:
  ///   - changes: The changes that were to be saved.
  ///   - asked: The changes that the context has.
  ///   - connection: The store.
  func forgetDerived(
    of changes: ChangeSet,
    askedFor asked: ChangeSet,
    in connection: StoreConnection
  ) {
    if connection.store.keepsRows { return }
    for model in added(to: changes, askedFor: asked) {
      model._$reset(keeping: model._$state.descriptor.underivedColumns)
    }
  }

  /// The models of a save that the context did not ask to be saved.
  private func added(to changes: ChangeSet, askedFor asked: ChangeSet) -> [any PersistentModel] {
    let known = Set(asked.updated.map { ObjectIdentifier($0) })
    return changes.updated.filter { !known.contains(ObjectIdentifier($0)) }
  }

  /// Takes over changes that the context's own saves made to other rows than those of its objects.
  func mergeDerived(of saves: [StoreSave]) {
    // By index: copying a save retains everything in it.
    for index in saves.indices where !saves[index].derived.isEmpty {
      var rows = SavedRows(connectionIndex: saves[index].connection.index)
      rows.updated = saves[index].derived
      merge([rows])
    }
  }
}

extension ModelDescriptor {
  /// The properties that are not derived.
  fileprivate var underivedColumns: OrdinalSet {
    var columns = OrdinalSet(upTo: properties.count)
    for property in properties where property.isDerived { columns.remove(property.ordinal) }
    return columns
  }
}

import RowFormat

extension ModelContext {
  /// Has the objects of a save read their derived attributes again, of which only the store knows the values.
  ///
  /// - Parameters:
  ///   - derived: Receives what a store of snapshots was given only for derived attributes.
  ///   - changes: The changes that were saved.
  ///   - asked: Those that the context had.
  ///   - connection: The store.
  func settle(
    _ derived: DerivedRows,
    of changes: ChangeSet,
    askedFor asked: ChangeSet,
    in connection: StoreConnection
  ) {
    if !connection.store.keepsRows, changes.updated.count > asked.updated.count {
      let known = Set(asked.updated.map { $0._$state.reference })
      derived.updated = changes.updated.map { $0._$state.reference }.filter { !known.contains($0) }
    }
    for model in [changes.inserted, changes.updated].joined() {
      let state = model._$state
      let descriptor = state.descriptor
      guard descriptor.isDeriving else { continue }
      // Of a store of snapshots, the object has the values that were saved.
      if connection.store.keepsRows { model._$reset(keeping: descriptor.underivedColumns) }
      guard state.isObserved else { continue }
      for property in descriptor.properties where property.isDerived { property.notify(model) }
    }
  }

  /// Takes over what the context's own saves made of other rows than those of its objects.
  func mergeDerived(of saves: [StoreSave]) {
    // By index: a save that is copied counts references to all that it holds.
    for index in saves.indices where !saves[index].derived.isEmpty {
      var rows = SavedRows(connectionIndex: saves[index].connection.index)
      rows.updated = saves[index].derived
      merge([rows])
    }
  }
}

extension ModelDescriptor {
  /// The properties that are not derived, and those that share a mark with others, of which none is.
  fileprivate var underivedColumns: OrdinalSet {
    var columns = OrdinalSet(upTo: properties.count)
    for property in properties where property.isDerived { columns.remove(property.ordinal) }
    return columns
  }
}

import RowFormat

// `relationshipKeyPathsForPrefetching`: the rows at the other end of a relationship, fetched in one request
// instead of one by one when each is read. For a store far away that is the difference between one answer
// and a thousand.

extension ModelContext {
  /// Fetches what the models of a fetch are related to.
  func prefetch<T: PersistentModel>(_ keyPaths: [PartialKeyPath<T>], of models: [T]) {
    let descriptor = ModelDescriptor.of(T.self)
    var found: [any PersistentModel] = []
    // Many models may have one at their other end.
    var known: Set<ObjectIdentifier> = []
    func add(_ model: any PersistentModel) {
      if known.insert(ObjectIdentifier(model)).inserted { found.append(model) }
    }
    for property in keyPaths.compactMap(descriptor.property(for:)) where property.isRelationship {
      for model in models {
        let state = model._$state
        if property.isToMany {
          for other in state.destinations(property) { add(other) }
        } else if let other = state.destination(property) {
          add(other)
        }
      }
    }
    for connection in coordinator.connections {
      loadRows(
        of: found.map { $0._$state }.filter { $0.connection === connection },
        from: connection
      )
    }
    hold(found)
  }

  /// Holds models until the next fetch that prefetches: there is no other reference to them yet.
  private func hold(_ models: [any PersistentModel]) {
    for model in prefetched {
      let state = model._$state
      if state.context === self, !state.hasChanges { beKept(by: state) }
    }
    prefetched = models
    for model in models { letGo(of: model._$state) }
  }
}

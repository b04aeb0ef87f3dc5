import RowFormat

// `relationshipKeyPathsForPrefetching`: the rows at the other end of a relationship, fetched in one request
// instead of one by one when each is read. For a remote store that is the difference between one answer
// and a thousand.

extension ModelContext {
  /// Fetches the related models of a fetch.
  func prefetch<T: PersistentModel>(_ keyPaths: [PartialKeyPath<T>], of models: [T]) {
    let descriptor = ModelDescriptor.of(T.self)
    var found: [any PersistentModel] = []
    // Many models may have the same one at their other end.
    var known: Set<ObjectIdentifier> = []
    func add(_ model: any PersistentModel) {
      if known.insert(ObjectIdentifier(model)).inserted { found.append(model) }
    }
    for property in keyPaths.compactMap(descriptor.ownOrInheritedProperty(for:))
    where property.isRelationship {
      // Following a relationship without an inverse looks whether the rows are there: all are read before that.
      if property.inverse == nil {
        for model in models { for other in namedModels(of: model, property) { add(other) } }
        load(found)
      }
      // All rows of a fetch are in one store, so a reference suffices to recognize one.
      var seen = SeenRows()
      func addModel(at reference: RowReference, in connection: StoreConnection) {
        if seen.insert(reference), let other = self.model(at: reference, in: connection),
          !other._$state.isDeleted
        {
          add(other)
        }
      }
      for model in models {
        if !property.isToMany, let end = model._$fetchedRow.end(property.ordinal) {
          if let reference = end.reference { addModel(at: reference, in: end.connection) }
          continue
        }
        if let members = model._$fetchedRow.members(property) {
          for reference in members.references {
            addModel(at: reference, in: members.connection)
          }
          continue
        }
        let state = model._$state
        if property.isToMany {
          for other in state.destinations(property) { add(other) }
        } else if let other = state.destination(property) {
          add(other)
        }
      }
    }
    load(found)
    hold(found)
  }

  /// The models that a stored model's row names in a relationship, whether or not they are there.
  private func namedModels(
    of model: some PersistentModel,
    _ property: ModelProperty
  ) -> [any PersistentModel] {
    let state = model._$state
    guard state.flags.contains(.stored), let connection = state.connection else { return [] }
    return storedTargets(of: state.reference, property, in: connection)
      .filter { property.canLead(to: connection.descriptor(of: $0)) }
      .compactMap { self.model(at: $0, in: connection) }.filter { !$0._$state.isDeleted }
  }

  /// Reads the rows of models, in one request to each store.
  private func load(_ models: [any PersistentModel]) {
    for connection in coordinator.connections {
      loadRows(
        of: models.map { $0._$state }.filter { $0.connection === connection },
        from: connection
      )
    }
  }

  /// Holds models until the next prefetching fetch: there is no other reference to them yet.
  private func hold(_ models: [any PersistentModel]) {
    for model in prefetched {
      let state = model._$state
      if state.context === self, !state.hasChanges { beKept(by: state) }
    }
    prefetched = models
    for model in models { letGo(of: model._$state) }
  }
}

/// The target rows of relationships found so far: often the same ones repeatedly.
private struct SeenRows {
  /// Sixty-four rows with neighbouring keys to a word, a bit for each.
  private var blocks: [UInt64: UInt64] = [:]

  /// - Returns: Whether the row is new.
  mutating func insert(_ row: RowReference) -> Bool {
    let bit = 1 as UInt64 &<< (row.rawValue % 64)
    let known = blocks[row.rawValue / 64] ?? 0
    if known & bit != 0 { return false }
    blocks[row.rawValue / 64] = known | bit
    return true
  }
}

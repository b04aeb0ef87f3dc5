import RowFormat

// A cascade deletes the members of a list because their owner is deleted. From then on only objects in memory lead to a
// member: so the ends of the members need not be cleared, and a member without an object is deleted as a row. If the rule
// is to nullify, the end of a member without an object is cleared in its row.

/// The members of a list that are deleted with their owner, or lose it.
///
/// Invariant: none of the rows has an object in the context. Any code that is about to create one, or reads the deleted
/// models, first creates objects for all of them (``ModelContext/makeModelsTakenAlong()``).
struct TakenAlong {
  let owner: any PersistentModel
  /// The list.
  let property: ModelProperty
  let connection: StoreConnection
  /// The members with objects; with a cascade, their ends still lead to the owner.
  fileprivate(set) var models: [any PersistentModel] = []
  /// The members without objects, in order.
  fileprivate(set) var rows: [RowReference] = []

  init(
    _ models: [any PersistentModel],
    _ rows: [RowReference],
    of owner: any PersistentModel,
    _ property: ModelProperty,
    in connection: StoreConnection
  ) {
    self.owner = owner
    self.property = property
    self.connection = connection
    self.models = models
    self.rows = rows
  }

  /// Whether the members are deleted.
  var isCascade: Bool { property.deleteRule == .cascade }
}

extension ModelContext {
  /// Whether members of a list may be deleted without notification: nobody follows them, and the store has their ends.
  func takesAlong(_ property: ModelProperty, of owner: _ModelState) -> Bool {
    property.deleteRule == .cascade && isUnfollowed(property, of: owner)
  }

  private func isUnfollowed(_ property: ModelProperty, of owner: _ModelState) -> Bool {
    guard undo.manager == nil, observers == nil, property.isDerivable,
      owner.flags.contains(.stored), let connection = owner.connection
    else { return false }
    return !connection.keepsLists
  }

  /// Whether members of a list that have no objects may be deleted as rows, or lose the owner in their rows.
  ///
  /// Not for remote stores, which return the members' rows with their list; nor if other rows depend on them, or
  /// values are compared.
  func takesRowsAlong(_ property: ModelProperty, of owner: _ModelState) -> Bool {
    guard isUnfollowed(property, of: owner), case .unloaded = owner.relation(property),
      let connection = owner.connection
    else { return false }
    switch property.deleteRule {
    case .cascade: break
    case .nullify:
      guard connection.store.clearsReferences, property.inverse?.isOptional == true else {
        return false
      }
    case .deny, .noAction: return false
    }
    return connection.store.keepsRows && !connection.loadsSiblings && !connection.isDeriving
      && !remembersReads && connection.changeCount != nil
  }

  /// Records that members of a list are deleted with their owner, or lose it.
  ///
  /// - Parameters:
  ///   - group: The members.
  ///   - epoch: The context's list epoch when the rows were found.
  func takeAlong(_ group: TakenAlong, epoch: UInt32) {
    takenAlong.append(group)
    if group.rows.isEmpty { return }
    if !hasRowsTakenAlong {
      tablesTakenAlong = []
      firstRowsTakenAlong = takenAlong.count - 1
    }
    hasRowsTakenAlong = true
    rowsTakenAlongEpoch = epoch
    for row in group.rows where tablesTakenAlong.last != row.table {
      if !tablesTakenAlong.contains(row.table) { tablesTakenAlong.append(row.table) }
    }
  }

  /// Whether a row may be one that is deleted or changed without an object.
  func mayTakeAlong(_ row: RowReference) -> Bool {
    hasRowsTakenAlong && tablesTakenAlong.contains(row.table)
  }

  /// Whether rows of a class, or of a subclass, may be deleted or changed without objects.
  private func mayTakeAlong(_ type: ModelDescriptor) -> Bool {
    if !hasRowsTakenAlong { return false }
    return coordinator.connections.contains { connection in
      tablesTakenAlong.contains { table in
        connection.descriptor(of: RowReference(table: table, key: 0))?.isKind(of: type) ?? false
      }
    }
  }

  /// Adds the rows that the next save deletes or changes without objects to its changes.
  ///
  /// Of the deleted ones, the last comes first, in the order of cascades.
  func addRowsTakenAlong(in connection: StoreConnection, to changes: inout ChangeSet) {
    if !hasRowsTakenAlong { return }
    for group in takenAlong[firstRowsTakenAlong...] where group.connection === connection {
      if group.isCascade {
        changes.deletedRows += group.rows.reversed()
      } else if let column = group.property.inverse?.ordinal {
        let owner = group.owner._$state.reference
        changes.clearedReferences += group.rows.map {
          DanglingReferences.Reference(row: $0, column: column, target: owner)
        }
      }
    }
  }

  /// Creates objects for the rows deleted or changed without any, if some of them may be of a class or a subclass.
  func makeModelsTakenAlong(of type: ModelDescriptor) {
    if mayTakeAlong(type) { makeModelsTakenAlong() }
  }

  /// Creates objects for the rows deleted or changed without any, as if they had existed from the start.
  func makeModelsTakenAlong() {
    if !hasRowsTakenAlong { return }
    // Creating them calls this again.
    hasRowsTakenAlong = false
    for place in firstRowsTakenAlong..<takenAlong.count where !takenAlong[place].rows.isEmpty {
      let group = takenAlong[place]
      let models = group.rows.compactMap { model(at: $0, in: group.connection) }
      takenAlong[place].rows = []
      takenAlong[place].models += models
      loadRows(of: models.map { $0._$state }, from: group.connection)
      if group.isCascade {
        for model in models.reversed() {
          let state = model._$state
          state.flags.insert([.deleted, .isHeld])
          deletedModels.append(model)
          letGo(of: state)
        }
      } else {
        for model in models { group.detach(model) }
      }
      group.owner._$state.show(takenAlong[place].models, in: group.property)
    }
  }

  /// Clears the ends of models that were deleted with their owners, because one of them is to stay after all.
  func detachModelsTakenAlong() {
    if takenAlong.isEmpty { return }
    makeModelsTakenAlong()
    let groups = takenAlong
    takenAlong = []
    for group in groups where group.isCascade {
      for model in group.models where model._$state.isDeleted && model._$state.context === self {
        group.detach(model)
      }
    }
  }

  /// Forgets the members that were deleted with owners in a store: they are gone, or restored.
  func forgetTakenAlong(in connection: StoreConnection? = nil) {
    if takenAlong.isEmpty { return }
    takenAlong.removeAll { connection == nil || $0.connection === connection }
    let first = takenAlong.firstIndex { !$0.rows.isEmpty }
    hasRowsTakenAlong = first != nil
    firstRowsTakenAlong = first ?? 0
  }
}

extension TakenAlong {
  /// Clears the end of a member if it still leads to the owner.
  fileprivate func detach(_ model: any PersistentModel) {
    let state = model._$state
    guard let inverse = property.inverse, case .unloaded = state.relation(inverse),
      state.storedReference(inverse) == owner._$state.reference
    else { return }
    state.clear(inverse, of: model)
    state.recordNullification(inverse)
  }
}

extension _ModelState {
  /// Whether the object is deleted with its owner without notification.
  ///
  /// Not if its end was set here, or if it is observed.
  func goesAlong(with owner: _ModelState, at inverse: ModelProperty) -> Bool {
    guard flags.contains(.stored), context === owner.context, !isObserved,
      case .unloaded = relation(inverse)
    else { return false }
    return true
  }

  /// Makes the list of a deleted owner show the members deleted with it, as lists in memory do until the save.
  fileprivate func show(_ models: [any PersistentModel], in property: ModelProperty) {
    guard case .unloaded = relation(property) else { return }
    let list = property.makeList(models)
    list.epoch = listEpoch
    setRelation(.many(list), property)
  }
}

extension ModelDescriptor {
  /// Whether the only relationship of the class is the one to the owner with which its models are deleted.
  func isLeaf(at inverse: ModelProperty) -> Bool {
    relationships.allSatisfy { $0.ordinal == inverse.ordinal }
  }
}

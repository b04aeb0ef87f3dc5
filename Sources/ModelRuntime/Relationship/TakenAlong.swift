import RowFormat

// A cascade deletes the members of a list because their owner goes. From then on only objects in memory lead to a member: so
// the ends of the members need not be cleared, and a member without an object is deleted as a row.

/// The members of a list that are deleted because their owner is.
///
/// Invariant: none of the rows has an object in the context. Whatever is about to make one, or looks at the deleted models,
/// has objects made of all of them first (``ModelContext/makeModelsTakenAlong()``).
struct TakenAlong {
  let owner: any PersistentModel
  /// The list.
  let property: ModelProperty
  let connection: StoreConnection
  /// The members that have objects; their ends still lead to the owner.
  fileprivate(set) var models: [any PersistentModel] = []
  /// The members that have none, in order.
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
}

extension ModelContext {
  /// Whether members of a list may go without being told: nobody follows them, and the store finds them from their own end.
  func takesAlong(_ property: ModelProperty, of owner: _ModelState) -> Bool {
    guard undo.manager == nil, observers == nil, property.isDerivable,
      property.deleteRule == .cascade, owner.flags.contains(.stored),
      let connection = owner.connection
    else { return false }
    return !connection.keepsLists
  }

  /// Whether members of a list that have no objects may be deleted as rows.
  ///
  /// Not for stores far away, which bring the members' rows with their list; nor where other rows depend on them, or
  /// values are compared.
  func takesRowsAlong(_ property: ModelProperty, of owner: _ModelState) -> Bool {
    guard takesAlong(property, of: owner), case .unloaded = owner.relation(property),
      let connection = owner.connection
    else { return false }
    return connection.store.keepsRows && !connection.loadsSiblings && !connection.isDeriving
      && !remembersReads && connection.changeCount != nil
  }

  /// Records that members of a list go with their owner.
  ///
  /// - Parameters:
  ///   - group: The members.
  ///   - epoch: What the context knew of the store when the rows were found.
  func takeAlong(_ group: TakenAlong, epoch: UInt32) {
    takenAlong.append(group)
    if group.rows.isEmpty { return }
    if !hasRowsTakenAlong {
      tablesTakenAlong = []
      firstRowsTakenAlong = takenAlong.count - 1
    }
    hasRowsTakenAlong = true
    rowsTakenAlongEpoch = epoch
    deletionCount &+= group.rows.count
    for row in group.rows where tablesTakenAlong.last != row.table {
      if !tablesTakenAlong.contains(row.table) { tablesTakenAlong.append(row.table) }
    }
  }

  /// Whether a row may be one that is deleted without an object.
  func mayTakeAlong(_ row: RowReference) -> Bool {
    hasRowsTakenAlong && tablesTakenAlong.contains(row.table)
  }

  /// Whether rows of a class, or of a subclass, may be deleted without objects.
  private func mayTakeAlong(_ type: ModelDescriptor) -> Bool {
    if !hasRowsTakenAlong { return false }
    return coordinator.connections.contains { connection in
      tablesTakenAlong.contains { table in
        connection.descriptor(of: RowReference(table: table, key: 0))?.isKind(of: type) ?? false
      }
    }
  }

  /// The rows that the next save deletes without objects, the last one first, as cascades go.
  func rowsTakenAlong(in connection: StoreConnection) -> [RowReference] {
    if !hasRowsTakenAlong { return [] }
    var rows: [RowReference] = []
    for group in takenAlong where group.connection === connection { rows += group.rows.reversed() }
    return rows
  }

  /// Makes objects of the rows that are deleted without any, if some of them may be of a class or a subclass.
  func makeModelsTakenAlong(of type: ModelDescriptor) {
    if mayTakeAlong(type) { makeModelsTakenAlong() }
  }

  /// Makes objects of the rows that are deleted without any, as if there had been some from the start.
  func makeModelsTakenAlong() {
    if !hasRowsTakenAlong { return }
    // Making them asks again.
    hasRowsTakenAlong = false
    for place in firstRowsTakenAlong..<takenAlong.count where !takenAlong[place].rows.isEmpty {
      let group = takenAlong[place]
      let models = group.rows.compactMap { model(at: $0, in: group.connection) }
      takenAlong[place].rows = []
      takenAlong[place].models += models
      loadRows(of: models.map { $0._$state }, from: group.connection)
      for model in models.reversed() {
        let state = model._$state
        state.flags.insert([.deleted, .isHeld])
        deletedModels.append(model)
        letGo(of: state)
      }
      group.owner._$state.show(takenAlong[place].models, in: group.property)
    }
  }

  /// Clears the ends of models that were deleted with their owners: one of them, or of these, is to stay after all.
  func detachModelsTakenAlong() {
    if takenAlong.isEmpty { return }
    makeModelsTakenAlong()
    let groups = takenAlong
    takenAlong = []
    for group in groups {
      guard let inverse = group.property.inverse else { continue }
      let owner = group.owner._$state.reference
      for model in group.models {
        let state = model._$state
        guard state.isDeleted, state.context === self, case .unloaded = state.relation(inverse),
          state.storedReference(inverse) == owner
        else { continue }
        state.clear(inverse, of: model)
        state.recordNullification(inverse)
      }
    }
  }

  /// Forgets the members that went with owners in a store: they are gone, or here again.
  func forgetTakenAlong(in connection: StoreConnection? = nil) {
    if takenAlong.isEmpty { return }
    takenAlong.removeAll { connection == nil || $0.connection === connection }
    let first = takenAlong.firstIndex { !$0.rows.isEmpty }
    hasRowsTakenAlong = first != nil
    firstRowsTakenAlong = first ?? 0
  }
}

extension _ModelState {
  /// Whether the object goes with the owner it has without being told.
  ///
  /// Not one whose end was set here, nor one that is observed.
  func goesAlong(with owner: _ModelState, at inverse: ModelProperty) -> Bool {
    guard flags.contains(.stored), context === owner.context, !isObserved,
      case .unloaded = relation(inverse)
    else { return false }
    return true
  }

  /// Has the list of a deleted owner show the members that went with it, as lists in memory do until the save.
  fileprivate func show(_ models: [any PersistentModel], in property: ModelProperty) {
    guard case .unloaded = relation(property) else { return }
    let list = property.makeList(models)
    list.epoch = listEpoch
    setRelation(.many(list), property)
  }
}

extension ModelDescriptor {
  /// Whether a model of the class has no relationship but the one to the owner that it goes with.
  func isLeaf(at inverse: ModelProperty) -> Bool {
    relationships.allSatisfy { $0.ordinal == inverse.ordinal }
  }
}

import RowFormat
import SchedulePoints

// Loading of lists: the stored members, corrected by the changes here.

extension _ModelState {
  /// The context's epoch of its stores: a list loaded in another epoch is checked again.
  var listEpoch: UInt32 { context?.listEpoch ?? 0 }

  /// Loads a list again.
  func load(_ list: RelatedModels, _ property: ModelProperty) {
    guard flags.contains(.stored), let context, let connection else {
      // For a list that is in no store, the added members are all there are.
      if list.isLoaded { list.removeDeleted() } else { list.rebase(on: []) }
      if let inverse = property.inverse, !list.formerRanks.isEmpty {
        list.placeByFormerRanks { list.rank(of: $0, at: self, inverse) }
      }
      list.epoch = listEpoch
      list.isOutdated = false
      list.deletionCount = context?.deletions.count ?? 0
      return
    }
    do {
      try load(list, property, for: context, from: connection)
      if context.knowsAll(of: connection) { return }
      // A commit in between may have moved a member, and its two ends would contradict each other. It is rare, and holding a
      // state each time would take a fifth of the time of reading a list.
      try context.holdingState(of: connection) {
        try load(list, property, for: context, from: connection)
      }
    } catch {
      context.deferredError = context.deferredError ?? error
    }
  }

  private func load(
    _ list: RelatedModels,
    _ property: ModelProperty,
    for context: ModelContext,
    from connection: StoreConnection
  ) throws {
    context.noticeCommitsIfCounted(to: connection)
    var epoch = context.listEpoch
    let stored =
      property.isDerivable
      ? try context.derivedMembers(of: self, property, in: connection)
      : try context.storedMembers(of: self, property, in: connection)
    if list.isLoaded, property.isDerivable {
      let isOfOneEpoch = context.listEpoch == epoch
      context.refreshFormerMembers(of: list, since: stored)
      // Members that turn out to be deleted begin an epoch, for the other lists that they are in: they are not in this one.
      if isOfOneEpoch { epoch = context.listEpoch }
    }
    context.findDeletedAdditions(to: list, property, in: connection)
    list.rebase(on: stored)
    list.epoch = epoch
    list.deletionCount = context.deletions.count
    if let inverse = property.inverse, !list.formerRanks.isEmpty {
      try context.placeByFormerRanks(in: list, of: self, inverse, in: connection)
    }
    for member in stored { hold(member) }
    if !property.isDerivable { context.keepLists(listedMemberCount, of: self) }
  }
}

extension ModelContext {
  /// The members of a list that is derived from its other end, if they still are members here.
  fileprivate func derivedMembers(
    of owner: _ModelState,
    _ property: ModelProperty,
    in connection: StoreConnection
  ) throws -> [any PersistentModel] {
    guard let inverse = property.inverse else { return [] }
    if connection.keepsLists { refreshRow(of: owner, from: connection) }
    var stale: [_ModelState] = []
    func isMember(_ model: any PersistentModel) -> Bool {
      let state = model._$state
      switch state.currentReference(through: inverse, to: owner) {
      case .same: return true
      case .other: return false
      case .outdated:
        stale.append(state)
        return true
      }
    }
    let members: [any PersistentModel]
    if connection.loadsSiblings, let destination = property.destination {
      members =
        try siblingMembers(of: owner, property, in: connection)
        .map { models(of: $0, as: .of(destination), in: connection, where: isMember) } ?? []
    } else {
      members = try connection.store.members(of: owner, property)
        .compactMap { model(at: $0, in: connection) }.filter(isMember)
    }
    SchedulePoint.duringListRead.reach()
    // The store is newer than rows read before: with the list, the rows are refreshed to agree with it.
    refreshRows(of: stale, from: connection)
    return members
  }

  /// The members of a list that is not in memory, of a model that is about to be deleted: objects if they exist, or
  /// are needed to be deleted, too; otherwise rows, in order.
  ///
  /// - Returns: `nil` if there are objects only, or if the list cannot be read.
  func membersAndRows(
    of owner: _ModelState,
    _ property: ModelProperty,
    in connection: StoreConnection
  ) -> (models: [any PersistentModel], rows: [RowReference], epoch: UInt32)? {
    guard let inverse = property.inverse else { return nil }
    noticeCommitsIfCounted(to: connection)
    let epoch = listEpoch
    // The ordinary read of the list reports the error.
    guard let members = try? connection.store.members(of: owner, property) else { return nil }
    noticeCommitsIfCounted(to: connection)
    // Others may have moved a row here that is deleted with its former owner.
    if hasRowsTakenAlong, rowsTakenAlongEpoch != listEpoch { makeModelsTakenAlong() }
    let map = maps[connection.index]
    var models: [any PersistentModel] = []
    var rows: [RowReference] = []
    rows.reserveCapacity(members.count)
    var stale: [_ModelState] = []
    // A member that is deleted may have other relationships, whose rules apply to objects.
    let isCascade = property.deleteRule == .cascade
    var last: (table: UInt16, mayBeRows: Bool)?
    for member in members {
      if last?.table != member.table {
        let type = connection.descriptor(of: member)
        last = (member.table, isCascade ? type?.isLeaf(at: inverse) ?? false : type != nil)
      }
      if last?.mayBeRows == true, unsafe map.occupant(at: member) == nil {
        rows.append(member)
        continue
      }
      guard let model = model(at: member, in: connection) else { continue }
      switch model._$state.currentReference(through: inverse, to: owner) {
      case .same: break
      case .other: continue
      case .outdated: stale.append(model._$state)
      }
      models.append(model)
    }
    if rows.isEmpty, !models.isEmpty { return nil }
    refreshRows(of: stale, from: connection)
    return (models, rows, epoch)
  }

  /// Removes rows from a list for which objects were created since: another relationship led to them.
  func findObjects(
    of rows: inout [RowReference],
    in connection: StoreConnection,
    into models: inout [any PersistentModel]
  ) {
    if rows.isEmpty { return }
    let map = maps[connection.index]
    rows.removeAll { row in
      guard unsafe map.occupant(at: row) != nil, let model = model(at: row, in: connection) else {
        return false
      }
      models.append(model)
      return true
    }
  }

  /// Places members that an undo restored by their former ranks; rows that are not in memory are read.
  fileprivate func placeByFormerRanks(
    in list: RelatedModels,
    of owner: _ModelState,
    _ inverse: ModelProperty,
    in connection: StoreConnection
  ) throws {
    let ranks = list.formerRanks
    let others = list.models.filter { ranks[ObjectIdentifier($0)] == nil }
    try readRows(of: others.map { $0._$state }, in: connection)
    list.placeByFormerRanks { list.rank(of: $0, at: owner, inverse) }
    list.formerRanks = [:]
  }

  /// The members of a list that is stored with its owner, if they still exist here.
  fileprivate func storedMembers(
    of owner: _ModelState,
    _ property: ModelProperty,
    in connection: StoreConnection
  ) throws -> [any PersistentModel] {
    refreshRow(of: owner, from: connection)
    owner.loadRow()
    let row = owner.currentRow
    guard !row.isNull(property.ordinal) else { return [] }
    let models = row.layout.references(property.ordinal, in: row.span)
      .filter { property.canLead(to: connection.descriptor(of: $0)) }
      .compactMap { model(at: $0, in: connection) }
      .filter { !$0._$state.isKnownGone }
    if connection.loadsSiblings {
      try readMembers(models.map { $0._$state }, of: owner, property, in: connection)
    }
    if property.inverse != nil { return models }
    findDeleted(among: models.map { $0._$state }, in: connection)
    return models.filter { $0._$state.exists() }
  }

  /// Finds out which of the models that were added to a list without an inverse others have deleted: those vanish.
  ///
  /// A remote store is not asked, which would be a round trip.
  func findDeletedAdditions(
    to list: RelatedModels,
    _ property: ModelProperty,
    in connection: StoreConnection
  ) {
    if property.inverse != nil || list.added.isEmpty || connection.loadsSiblings { return }
    findDeleted(among: list.added.elements.map { $0._$state }, in: connection)
  }

  /// Finds out which members others have deleted, of a list that no other end tells: those vanish.
  private func findDeleted(among members: [_ModelState], in connection: StoreConnection) {
    let stored = members.filter { $0.flags.contains(.stored) && $0.connection === connection }
    if !connection.loadsSiblings {
      refreshRows(
        of: stored.filter { unsafe $0.row != nil && hasOutdatedRow($0) },
        from: connection
      )
    }
    loadRows(of: stored, from: connection)
  }

  /// Reads again the rows of members that left the stored list, unless a change here explains it.
  fileprivate func refreshFormerMembers(
    of list: RelatedModels,
    since stored: [any PersistentModel]
  ) {
    let former = list.models
    if former.count <= stored.count, zip(former, stored).allSatisfy({ $0 === $1 }) { return }
    let present = Set(stored.lazy.map { ObjectIdentifier($0) })
    let gone = former.lazy.filter { !present.contains(ObjectIdentifier($0)) }.map { $0._$state }
      .filter { unsafe $0.row != nil && $0.flags.contains(.stored) && !$0.hasChanges }
    for connection in coordinator.connections {
      refreshRows(of: gone.filter { $0.connection === connection }, from: connection)
    }
  }

  /// Reads a row again, if it is older than the context's knowledge of the store.
  func refreshRow(of state: _ModelState, from connection: StoreConnection) {
    guard unsafe state.row != nil, hasOutdatedRow(state) else { return }
    refreshRows(of: [state], from: connection)
  }

  /// Reads rows again, even if they are in memory; an object keeps its unsaved changes.
  func refreshRows(of states: [_ModelState], from connection: StoreConnection) {
    if states.isEmpty { return }
    assert(!states.contains { $0.isElsewhere(than: connection) }, "a row of another store is read")
    do {
      let rows = try connection.store.rows(at: states.map(\.reference), for: editingState)
      for (state, row) in zip(states, rows) {
        guard let row else {
          // Deleted by another context: the object keeps its last values, and reports that it is deleted.
          if state.flags.contains(.stored) { state.vanish() }
          continue
        }
        refresh(state, from: row)
        state.rowEpoch = listEpoch
      }
    } catch {
      deferredError = deferredError ?? error
    }
  }

  /// Notices commits to a store since the last time, other than the context's own.
  ///
  /// Called before a read, whose result then is at least as new as the context's epoch.
  func noticeCommits(to connection: StoreConnection) {
    guard let newest = connection.changeCount else { return beginEpoch() }
    begin(seeing: newest, of: connection, ifNew: newest)
  }

  /// Notices commits to a store, after a read.
  ///
  /// - Parameters:
  ///   - connection: The store.
  ///   - known: The store's number of changes before the read; `nil` if it does not count.
  func noticeCommits(to connection: StoreConnection, readAfter known: UInt64?) {
    guard let known, let newest = connection.changeCount else {
      // Unknown: anything may have changed.
      return beginEpoch()
    }
    begin(seeing: known, of: connection, ifNew: newest)
  }

  /// The same before a single row or list is read: lists that contradict it are then loaded again.
  func noticeCommitsIfCounted(to connection: StoreConnection) {
    if let newest = connection.changeCount { begin(seeing: newest, of: connection, ifNew: newest) }
  }

  /// Begins an epoch that has seen a number of commits, unless the current one has seen the newest.
  ///
  /// A commit since a read began may or may not be included in it: the next read checks again.
  private func begin(
    seeing known: UInt64,
    of connection: StoreConnection,
    ifNew newest: UInt64
  ) {
    if newest == epochs.count(of: connection.index) || PlantedFault.unnoticedCommits.isPlanted {
      return
    }
    epochs.begin(seeing: known, of: connection.index)
  }

  /// Whether the context has noticed all commits to an object's store.
  func knowsAll(of state: _ModelState) -> Bool {
    guard let connection = state.connection, connection.changeCount != nil else { return false }
    return knowsAll(of: connection)
  }

  /// Whether the context has noticed all commits to a store, as far as that counts them.
  fileprivate func knowsAll(of connection: StoreConnection) -> Bool {
    connection.changeCount.map { $0 == epochs.count(of: connection.index) } ?? true
  }

  /// Notices a save of the context's own, which changes nothing in its lists.
  ///
  /// - Parameters:
  ///   - connection: The store.
  ///   - former: The store's number of changes right before.
  func noticeOwnCommit(to connection: StoreConnection, after former: UInt64?) {
    guard let former, let newest = connection.changeCount else { return }
    if newest == former &+ 1, former == epochs.count(of: connection.index) {
      epochs.see(newest, of: connection.index)
    } else {
      epochs.begin(seeing: newest, of: connection.index)
    }
  }
}

extension _ModelState {
  fileprivate enum CurrentReference {
    case same, other
    /// The row in memory has another model than the store.
    case outdated
  }

  /// Whether the object is no member of a list in memory, and putting that together again would not make it one: its own end
  /// leads elsewhere.
  func isKnownElsewhere(
    than list: RelatedModels,
    _ property: ModelProperty,
    of owner: _ModelState
  ) -> Bool {
    guard property.isDerivable, let inverse = property.inverse, let model else { return false }
    return !list.contains(model) && currentReference(through: inverse, to: owner) == .other
  }

  /// Whether a member that the store found is one here: not if it has been moved or deleted since.
  fileprivate func currentReference(
    through inverse: ModelProperty,
    to owner: _ModelState
  ) -> CurrentReference {
    if isKnownGone { return .other }
    if changed.contains(inverse.ordinal), case .one(let current) = relation(inverse) {
      return current?._$state === owner ? .same : .other
    }
    guard unsafe row != nil else { return .same }
    let row = currentRow
    if row.isNull(inverse.ordinal) { return .outdated }
    return row.layout.reference(inverse.ordinal, in: row.span) == owner.reference
      ? .same : .outdated
  }
}

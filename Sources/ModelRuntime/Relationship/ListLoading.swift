import RowFormat
import SchedulePoints

// Putting lists together: what the store says, corrected by what has changed here.

extension _ModelState {
  /// What the context knows of its stores: a list put together before is looked at again.
  var listEpoch: UInt32 { context?.listEpoch ?? 0 }

  /// Whether a list is without deleted members: the other end took them out, or nothing was deleted since.
  func knowsDeletions(_ list: RelatedModels, _ property: ModelProperty) -> Bool {
    property.inverse != nil || list.deletionCount == context?.deletionCount ?? list.deletionCount
  }

  /// Puts a list together anew.
  func load(_ list: RelatedModels, _ property: ModelProperty) {
    guard flags.contains(.stored), let context, let connection else {
      // Of a list that is in no store, what came is all there is.
      if list.isLoaded { list.removeDeleted() } else { list.rebase(on: []) }
      if let inverse = property.inverse, !list.formerRanks.isEmpty {
        list.placeByFormerRanks { list.rank(of: $0, at: self, inverse) }
      }
      list.epoch = listEpoch
      list.isOutdated = false
      list.deletionCount = context?.deletionCount ?? 0
      return
    }
    context.noticeCommitsIfCounted(to: connection)
    do {
      let epoch = context.listEpoch
      let stored =
        property.isDerivable
        ? try context.derivedMembers(of: self, property, in: connection)
        : try context.storedMembers(of: self, property, in: connection)
      if list.isLoaded, property.isDerivable {
        context.refreshFormerMembers(of: list, since: stored)
      }
      list.rebase(on: stored)
      list.epoch = epoch
      list.deletionCount = context.deletionCount
      if let inverse = property.inverse, !list.formerRanks.isEmpty {
        try context.placeByFormerRanks(in: list, of: self, inverse, in: connection)
      }
      for member in stored { hold(member) }
      if !property.isDerivable { context.keepLists(list.count, of: self, besidesOthers: true) }
    } catch {
      context.deferredError = context.deferredError ?? error
    }
  }
}

extension ModelContext {
  /// The members of a list that is found from its other end, and still are members here.
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
    // The store knows better than rows that were read before: with the list, they say what it says.
    refreshRows(of: stale, from: connection)
    return members
  }

  /// The members of a list that is not in memory, of a model that is about to be deleted: objects where there are some, or
  /// have to be; otherwise rows, in order.
  ///
  /// - Returns: `nil` if nothing is a row, or if the list cannot be read.
  func membersToDelete(
    of owner: _ModelState,
    _ property: ModelProperty,
    in connection: StoreConnection
  ) -> (models: [any PersistentModel], rows: [RowReference], epoch: UInt32)? {
    guard let inverse = property.inverse else { return nil }
    noticeCommitsIfCounted(to: connection)
    let epoch = listEpoch
    // One that reads the list like any other says what is wrong.
    guard let members = try? connection.store.members(of: owner, property) else { return nil }
    noticeCommitsIfCounted(to: connection)
    // Others may have moved a row here that goes with its former owner.
    if hasRowsTakenAlong, rowsTakenAlongEpoch != listEpoch { makeModelsTakenAlong() }
    let map = maps[connection.index]
    var models: [any PersistentModel] = []
    var rows: [RowReference] = []
    rows.reserveCapacity(members.count)
    var stale: [_ModelState] = []
    var last: (table: UInt16, isLeaf: Bool)?
    for member in members {
      if last?.table != member.table {
        last = (member.table, connection.descriptor(of: member)?.isLeaf(at: inverse) ?? false)
      }
      if last?.isLeaf == true, unsafe map.occupant(at: member) == nil {
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
    if rows.isEmpty { return nil }
    refreshRows(of: stale, from: connection)
    return (models, rows, epoch)
  }

  /// Takes those rows out of a list that have got objects since it was made: another relationship led to them.
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

  /// Puts members that an undo brought back to their former places; rows that are not in memory are read.
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

  /// The members of a list that is stored with its owner, and still exist here.
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
    // This end does not know which models were deleted.
    loadRows(of: models.map { $0._$state }, from: connection)
    return models.filter { $0._$state.exists() }
  }

  /// Reads rows of members again that are none any more, if nothing here says so.
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

  /// Reads a row again, if it was read before what the context knows of the store now.
  func refreshRow(of state: _ModelState, from connection: StoreConnection) {
    guard unsafe state.row != nil, state.rowEpoch != listEpoch else { return }
    refreshRows(of: [state], from: connection)
  }

  /// Reads rows again, whatever is in memory; an object keeps its unsaved changes.
  func refreshRows(of states: [_ModelState], from connection: StoreConnection) {
    if states.isEmpty { return }
    do {
      let rows = try connection.store.rows(at: states.map(\.reference), for: editingState)
      for (state, row) in zip(states, rows) {
        guard let row else {
          // Deleted by another context: the object keeps its last values, and says that it is deleted.
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

  /// Records what was committed to a store since the context last looked, other than by itself.
  ///
  /// Called before something is read, which then is as new as the context knows, or newer.
  func noticeCommits(to connection: StoreConnection) {
    noticeCommits(to: connection, readAfter: connection.changeCount)
  }

  /// Notices what was committed to a store, after something was read.
  ///
  /// - Parameters:
  ///   - connection: The store.
  ///   - known: How many changes the store counted before; `nil` if it cannot say.
  func noticeCommits(to connection: StoreConnection, readAfter known: UInt64?) {
    guard let known, let newest = connection.changeCount else {
      // Unknown: it may be anything.
      listEpoch &+= 1
      return
    }
    if newest == seenChanges[connection.index] || PlantedFault.unnoticedCommits.isPlanted { return }
    // A commit since the read began may or may not be part of what was read: the next read checks again.
    seenChanges[connection.index] = known
    listEpoch &+= 1
  }

  /// The same before a single row or list is read: then lists that contradict it are put together anew.
  func noticeCommitsIfCounted(to connection: StoreConnection) {
    guard let newest = connection.changeCount, newest != seenChanges[connection.index] else {
      return
    }
    noticeCommits(to: connection, readAfter: newest)
  }

  /// Whether nothing was committed to an object's store that the context has not noticed.
  func knowsAll(of state: _ModelState) -> Bool {
    guard let connection = state.connection, let newest = connection.changeCount else {
      return false
    }
    return newest == seenChanges[connection.index]
  }

  /// Records a save of its own, which changes nothing in the lists of the context.
  ///
  /// - Parameters:
  ///   - connection: The store.
  ///   - former: How many changes there were right before.
  func noticeOwnCommit(to connection: StoreConnection, after former: UInt64?) {
    guard let former, let newest = connection.changeCount else { return }
    let isOnlyChange = newest == former &+ 1 && former == seenChanges[connection.index]
    seenChanges[connection.index] = newest
    if !isOnlyChange { listEpoch &+= 1 }
  }
}

extension _ModelState {
  fileprivate enum CurrentReference {
    case same, other
    /// The row in memory names another model than the store does.
    case outdated
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

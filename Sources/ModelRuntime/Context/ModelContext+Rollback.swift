import RowFormat
import SchedulePoints

extension ModelContext {
  /// Discards all pending changes: inserted objects leave the context, changed ones revert to the store's values,
  /// deleted ones are restored.
  ///
  /// Once the container is closed, or the store for this context, they revert to the values that were read.
  public func rollback() {
    checked { rollbackNow() }
  }

  private func rollbackNow() {
    deferredError = nil
    forgetRepeatedFetches()
    forgetFailedAutosave()
    undo.manager?.removeAllActions(withTarget: self)
    undo.forgetReplacements()
    let inserted = inserted
    let changed = changed
    // Rows that are deleted without objects are members of lists, too.
    let mayKeepLists = deletedInMemory.isEmpty && !hasRowsTakenAlong
    let deleted = deletedInMemory
    forgetTakenAlong()
    for model in inserted {
      let state = model._$state
      state.context = nil
      state.isListedByValue = false
      state.updateIsObserved()
      state.flags.remove([.inserted, .deleted, .listed, .mayReturn])
      state.reference = .none
      // Relationships are released: models that refer to each other outside of every context would never be freed.
      state.settleUnwritten()
      state.dropRelations()
    }
    let closed = Set(coordinator.connections.filter(isClosed).map { ObjectIdentifier($0) })
    var keptLists: [RelatedModels] = []
    // Models of which a merge has dropped what was shown. The lists below may be all that keeps them.
    var unknown: [any PersistentModel] = []
    for model in changed + deleted {
      let state = model._$state
      if state.context == nil { continue }
      recentLists.forget(state)
      let isUnknown = !state.flags.isDisjoint(with: [.hasMergedValues, .hasUnreadChanges])
      let memory = state.mergeMemory
      let lists = mayKeepLists ? state.takeBackAdditions() : []
      let isClosed = state.connection.map { closed.contains(ObjectIdentifier($0)) } ?? false
      let changes = state.changed
      state.settle()
      if isClosed { state.dropRelations(in: changes) } else { state.dropRelations(but: lists) }
      keptLists += lists
      if !PlantedFault.forgottenRollback.isPlanted { state.flags.remove([.deleted, .mayReturn]) }
      // Read again, so that a model whose row is gone reports it. What is set before is compared with what was shown.
      // A closed store has nothing to be read: the row in memory is what the model has.
      if !isClosed, !state.dropShownRow(memory), isUnknown { unknown.append(model) }
      model._$reset()
      for property in state.descriptor.properties { property.notify(model) }
    }
    // Also lists without pending changes: their members' references are those of the store again.
    beginEpoch()
    for list in keptLists { list.epoch = listEpoch }
    let touched = observers == nil ? [] : inserted + changed + deleted
    formerStores = [:]
    insertedModels.removeAll()
    changedModels.removeAll()
    deletedModels.removeAll()
    forgetTemporaries()
    // What others save from now on is then noticed.
    for connection in unknown.isEmpty ? [] : coordinator.connections {
      let states = unknown.lazy.map { $0._$state }.filter { $0.connection === connection }
      withExtendedLifetime(unknown) { loadRows(of: Array(states), from: connection) }
    }
    observers?.rolledBack(touched)
  }

  /// Whether nothing can be read from a store any more.
  private func isClosed(_ connection: StoreConnection) -> Bool {
    do {
      try coordinator.checkOpen()
      _ = try connection.store.rows(at: [], for: editingState)
      return false
    } catch {
      return true
    }
  }
}

extension _ModelState {
  /// Takes the members out of the lists in memory that are new and would not be members without unsaved changes.
  ///
  /// - Returns: The lists that are those of the store then; any other one has to be put together again.
  fileprivate func takeBackAdditions() -> [RelatedModels] {
    if relations.isEmpty { return [] }
    return descriptor.relationships.compactMap { property in
      guard case .many(let list) = relation(property), list.isLoaded, !list.hasLostMembers,
        !list.isReordered, list.formerRanks.isEmpty, list.expected.isEmpty,
        list.added.elements.allSatisfy({ !$0._$state.flags.contains(.stored) }),
        isCurrent(list, property)
      else { return nil }
      for member in list.added.elements.reversed() { list.remove(member) }
      return list
    }
  }

  /// Releases the relationships in memory that were changed, of an object whose store is closed.
  fileprivate func dropRelations(in changes: OrdinalSet) {
    for property in descriptor.relationships
    where property.relationIndex < relations.count && changes.contains(property.ordinal) {
      relations[property.relationIndex] = .unloaded
    }
    context?.keepLists(listedMemberCount, of: self)
  }

  /// Releases the relationships in memory, but for some lists, which the context keeps for a while.
  fileprivate func dropRelations(but lists: [RelatedModels]) {
    if lists.isEmpty { return dropRelations() }
    for property in descriptor.relationships where property.relationIndex < relations.count {
      if case .many(let list) = relations[property.relationIndex],
        lists.contains(where: { $0 === list })
      {
        continue
      }
      relations[property.relationIndex] = .unloaded
    }
    context?.keepLists(listedMemberCount, of: self)
  }
}

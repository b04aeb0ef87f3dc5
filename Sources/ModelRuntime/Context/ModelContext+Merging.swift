import Foundation
import RowFormat
import SchedulePoints

// A save in one context is visible to its siblings: objects they have registered get the new values. A context belongs
// to its owner alone, so a save only leaves a note, and the owner's next call applies it.

extension ModelContext {
  /// Whether the context's objects take over saves of other contexts of the process that have the same store, and of other
  /// processes: off, but on in a container's main context.
  ///
  /// The main context takes changes in at the main actor's next turn; any other when it fetches or saves, or when
  /// ``processPendingChanges()`` is called. Observers of the models are notified. A property that has
  /// unsaved changes here keeps them, and the next save writes them: the last one to save a property
  /// wins.
  public var automaticallyMergesChanges: Bool {
    get { mergesChanges }
    set {
      mergesChanges = newValue
      updateInbox()
    }
  }

  /// Keeps an inbox while the context merges the saves of others.
  func updateInbox() {
    let isWanted = mergesChanges || observers != nil
    if let inbox, !isWanted {
      coordinator.remove(inbox)
      self.inbox = nil
    } else if inbox == nil, isWanted {
      let inbox = SaveInbox(autosave.isMain ? nil : saveBell, arrival: makeArrivalNotice())
      coordinator.add(inbox)
      self.inbox = inbox
    }
  }

  /// Makes the closure called after a save elsewhere: the main context has an owner that can be called.
  private func makeArrivalNotice() -> @Sendable () -> Void {
    guard autosave.isMain else { return { [saveBell] in saveBell.ring() } }
    let context = MainContextReference(self)
    return { Task { @MainActor in context.value?.mergeSavedChanges() } }
  }

  /// Takes over the saves of other contexts.
  func mergeSavedChanges() {
    // All that the state has was taken over when it was held.
    if holdsState { return }
    // A store that announces nothing may have read what later saves changed.
    for _ in 0..<Self.mergeLimit {
      guard let inbox, inbox.hasArrivals(), !PlantedFault.unmergedSave.isPlanted else { return }
      merge([])
    }
  }

  /// Takes over the saves that a read may have met, whether they have ended or not: all models then show one state again.
  func mergeVisibleSaves() {
    guard !holdsState, let inbox, inbox.hasSaves, !PlantedFault.unmergedSave.isPlanted else {
      return
    }
    merge([])
  }

  /// The number of times that a context takes over what was saved while it did so.
  private static var mergeLimit: Int { 4 }

  /// Takes over saved rows that were not saved through this context's objects, and all that other contexts have saved up to the
  /// state of the store that is read.
  func merge(_ own: [SavedRows]) {
    SchedulePoint.duringMerge.reach()
    for connection in coordinator.connections { noticeCommits(to: connection) }
    // A state that is held need not have what arrives only now.
    if !holdsState { _ = inbox?.hasArrivals() }
    var merge = Merge(hasSaves: inbox?.hasSaves ?? false)
    for connection in coordinator.connections { take(own, from: connection, by: &merge) }
    isAhead = false
    if holdsState, merge.saves.isEmpty { return }
    for model in merge.updated {
      model._$state.notifyAll(model, except: model._$state.changed)
    }
    mergeDeletions(of: merge.gone)
    noticeLists()
    observers?.merged(merge.saves, from: coordinator.connections)
    withExtendedLifetime(merge) {}
  }

  /// What a merge has found so far.
  private struct Merge {
    let hasSaves: Bool
    var saves: [SavedRows] = []
    /// The objects whose rows are read, those that were updated, and those whose rows are gone.
    ///
    /// They are kept until the end: a state does not keep its object, which observers may let go meanwhile.
    var read: [any PersistentModel] = []
    var updated: [any PersistentModel] = []
    var gone: [any PersistentModel] = []
  }

  /// Takes over the saves of one store.
  ///
  /// The rows are read at once, all from one state, so that models which one save changed show one state of the store,
  /// whatever is saved before each is looked at. A context that compares values must not count a value as read before the app
  /// reads it, and a remote store would have to answer one more request for each merge: their rows are read when they are
  /// needed.
  private func take(
    _ own: [SavedRows],
    from connection: StoreConnection,
    by merge: inout Merge
  ) {
    let index = connection.index
    var saves = own.filter { $0.connectionIndex == index }
    guard !saves.isEmpty || merge.hasSaves else { return }
    var models: [any PersistentModel] = []
    var rows: [FetchedRow?] = []
    if remembersReads || connection.loadsSiblings || coordinator.isOfThePast {
      saves += inbox?.take(of: index, upTo: nil) ?? []
    } else {
      do {
        rows = try connection.store.rows(for: editingState) { commit in
          saves += inbox?.take(of: index, upTo: commit) ?? []
          models = self.models(readFor: saves, in: connection)
          return models.map { $0._$state.reference }
        }
      } catch {
        deferredError = deferredError ?? error
      }
    }
    // Rows deleted here without objects are looked up by their objects below.
    if saves.contains(where: mayConcernRowsTakenAlong) { makeModelsTakenAlong() }
    for rows in saves {
      if !rows.isComplete { mergeAll(of: index, &merge.updated) }
      for reference in rows.updated { mergeUpdate(of: reference, in: index, &merge.updated) }
    }
    for (model, row) in zip(models, rows) {
      let state = model._$state
      guard state.context === self else { continue }
      if let row { refresh(state, from: row) } else { state.vanish() }
    }
    merge.read += models
    for rows in saves {
      for reference in rows.deleted {
        if let model = goneModel(at: reference, in: index) { merge.gone.append(model) }
      }
    }
    merge.saves += saves
  }

  /// The objects whose rows a merge reads: those that have values, and those that observers look at.
  private func models(
    readFor saves: [SavedRows],
    in connection: StoreConnection
  ) -> [any PersistentModel] {
    let map = maps[connection.index]
    var models: [any PersistentModel] = []
    func take(_ state: _ModelState?) {
      if let state, state.isReadByMerge, let model = state.model { models.append(model) }
    }
    if saves.contains(where: { !$0.isComplete }) {
      // An object without a state may also have read its row.
      map.makeStates()
      for state in map.states where state.flags.contains(.stored) { take(state) }
    }
    for rows in saves where rows.isComplete {
      for reference in rows.updated { take(map[reference]) }
      for reference in observers?.wantedRows(of: rows, from: connection) ?? [] {
        guard let model = model(at: reference, in: connection) else { continue }
        if model._$state.needsRow { models.append(model) }
      }
    }
    return models
  }

  /// Whether a save may have deleted or changed rows that are deleted here without objects.
  private func mayConcernRowsTakenAlong(_ rows: SavedRows) -> Bool {
    if !hasRowsTakenAlong { return false }
    return !rows.isComplete || rows.deleted.contains(where: mayTakeAlong)
      || rows.updated.contains(where: mayTakeAlong)
  }

  /// Takes over all possible changes in a store.
  private func mergeAll(of index: Int, _ updated: inout [any PersistentModel]) {
    // An object without a state may also have read its row.
    maps[index].makeStates()
    for state in maps[index].states where state.flags.contains(.stored) {
      mergeUpdate(of: state.reference, in: index, &updated)
    }
  }

  /// - Parameters:
  ///   - reference: The row.
  ///   - index: The store's index.
  ///   - updated: Receives the object, whose observers are told once it has its values.
  private func mergeUpdate(
    of reference: RowReference,
    in index: Int,
    _ updated: inout [any PersistentModel]
  ) {
    guard let state = maps[index][reference], let model = state.model else { return }
    // It may exist in the state that is shown now.
    if coordinator.isOfThePast { state.flags.remove(.vanished) }
    if state.isDeleted { return }
    if state.hasValues { state.flags.insert(.hasMergedValues) }
    state.dropRow()
    model._$reset(keeping: state.changed)
    if state.changed.isEmpty { state.flags.remove(.hasSavedValues) }
    if state.isListedByValue { unsaved.invalidateValue(nil, of: state) }
    updated.append(model)
  }

  /// The object of a row that was deleted elsewhere, if the context can drop it.
  ///
  /// An object with changes that would be lost stays, so that the next save can report it; fetches no longer find it.
  private func goneModel(
    at reference: RowReference,
    in index: Int
  ) -> (any PersistentModel)? {
    guard let state = maps[index][reference], let model = state.model else { return nil }
    if state.isDeleted || !state.hasChangedAttributes { return model }
    state.vanish()
    observers?.went(model)
    return nil
  }

  private func mergeDeletions(of gone: [any PersistentModel]) {
    for model in gone {
      deletedModels.remove(model)
      changedModels.remove(model)
      takeLeave(of: model)
      model._$state.notifyAll(model, except: OrdinalSet())
    }
  }

  /// Notifies observers of lists that these may have changed: they are put together again on the next access.
  private func noticeLists() {
    // Observers of the context observe every list that was accessed; others only their own.
    let owners = observers?.listOwners.current().filter { $0.flags.contains(.stored) }
    let states = owners ?? watchedStates
    // Observers may load lists, and release others and their members.
    for model in states.compactMap(\.model) {
      let state = model._$state
      for property in state.descriptor.relationships
      where property.isToMany && !state.changed.contains(property.ordinal) {
        if observers != nil, case .unloaded = state.relation(property) { continue }
        property.notify(model)
      }
    }
  }

  /// Gives an object a row that was just read, if it has none or another one.
  ///
  /// The values of its properties are the row's afterwards, except for those with unsaved changes.
  func refresh(_ state: _ModelState, from row: FetchedRow) {
    if state.isUnread {
      state.setRow(row)
      state.keepReattached()
      return
    }
    guard let model = state.model else { return }
    if unsafe state.row != nil {
      if state.currentRow.isEqual(to: row) { return }
      state.setRow(row)
      state.keepReattached()
    } else {
      let isCurrent = state.rowEpoch == listEpoch && knowsAll(of: state)
      state.flags.remove(.hasSavedValues)
      state.setRow(row)
      state.keepReattached()
      if isCurrent { return }
    }
    model._$reset(keeping: state.changed)
    if state.isListedByValue { unsaved.invalidateValue(nil, of: state) }
    getAhead()
    observers?.refreshed(model)
    state.notifyAll(model, except: state.changed)
  }
}

extension _ModelState {
  /// Whether a merge reads the row again.
  fileprivate var isReadByMerge: Bool { hasValues && !isDeleted }

  /// Whether the object has values that were read or saved.
  fileprivate var hasValues: Bool { unsafe row != nil || flags.contains(.hasSavedValues) }

  /// Notifies observers that properties have changed.
  fileprivate func notifyAll(_ model: any PersistentModel, except kept: OrdinalSet) {
    guard isObserved else { return }
    for property in descriptor.properties where !kept.contains(property.ordinal) {
      property.notify(model)
    }
  }
}

extension _RowView {
  /// Whether a fetched row has the same bytes.
  fileprivate func isEqual(to row: FetchedRow) -> Bool {
    guard let base = unsafe base, byteCount == row.byteCount else { return false }
    return unsafe base == row.base || memcmp(base, row.base, byteCount) == 0
  }
}

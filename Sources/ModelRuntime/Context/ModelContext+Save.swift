import Foundation
import RowFormat
import SchedulePoints

extension ModelContext {
  /// Writes all pending changes to the stores: for each store all of them, or none.
  ///
  /// A save without changes does nothing. When it throws, the changes of the store that failed, and of later stores, stay
  /// pending; an earlier store, in the order of the configurations, keeps what it committed. With one store the save is
  /// all or nothing.
  ///
  /// - Throws: A validation error that names model and property, a denied delete, or an error of the store.
  public func save() throws {
    let wasScheduled = autosave.isScheduled
    forgetFailedAutosave()
    do {
      try checked { try lettingStateGo { try saveNow() } }
    } catch {
      awaitCorrection(wasScheduled: wasScheduled)
      throw error
    }
    assertInvariants()
  }

  private func saveNow() throws {
    try throwDeferredError()
    mergeSavedChanges()
    guard hasChanges else {
      forgetTakenAlong()
      if !insertedModels.isEmpty {
        endUndoGroup()
        forgetUnsaved()
      }
      return
    }
    forgetRepeatedFetches()
    // Rules are checked, and places assigned, by the rows stored now.
    for connection in coordinator.connections { noticeCommitsIfCounted(to: connection) }
    SaveNotifications.postWillSave(of: self)
    endUndoGroup()
    try checkEntities()
    storesOfNewModels = StoresOfNewModels(in: self)
    defer { storesOfNewModels = nil }
    try checkStoresAllowSave()
    try checkRelationshipsStayInStores()
    try DeletePropagation.checkDenials(deletedInMemory)
    var saved: [StoreSave] = []
    do {
      for connection in coordinator.connections {
        if let save = try save(to: connection) { saved.append(save) }
      }
    } catch {
      // A committed store stays committed, even if another store fails.
      if !saved.isEmpty {
        for save in saved { undo.countPartialSave(in: save.connection) }
        report(saved)
      }
      throw error
    }
    forgetUnsaved()
    report(saved)
  }

  /// Announces the commits.
  private func report(_ saved: [StoreSave]) {
    mergeDerived(of: saved)
    // By index: copying a save retains everything in it.
    for index in saved.indices {
      coordinator.post(
        SavedRows(saved[index]),
        of: saved[index].connection,
        from: inbox,
        saved[index].announcement
      )
    }
    observers?.saved(saved.map(\.changes), pending: inserted)
    coordinator.saveListeners.tell(saved, author: author)
    for index in saved.indices {
      coordinator.tellOthers(of: saved[index].connection) {
        $0.tell([saved[index]], author: author)
      }
    }
    SaveNotifications.postDidSave(of: self) {
      var notice = SaveNotice()
      for save in saved { notice.add(save) }
      return notice
    }
  }

  /// Throws if the class of a new model is in no store's schema.
  private func checkEntities() throws {
    var last: ModelDescriptor?
    for model in inserted {
      let descriptor = model._$state.descriptor
      if descriptor === last || model._$state.isDeleted { continue }
      last = descriptor
      guard coordinator.connection(for: descriptor) != nil else {
        throw SwiftDataError.missingEntity(descriptor.entityName)
      }
    }
  }

  /// Throws if changes are pending for a read-only store, before another store is written.
  private func checkStoresAllowSave() throws {
    for connection in coordinator.connections
    where !connection.allowsSave
      && pendingChanges(for: connection)?.isWritten(to: connection) == true
    {
      throw SwiftDataError.saveNotAllowed(to: connection)
    }
  }

  /// Forgets changes that are now saved, and models that were deleted before.
  private func forgetUnsaved() {
    formerStores = [:]
    leaveUnsavedDeletions()
    forgetTemporaries()
    undo.countSave()
  }

  /// Forgets the models that were inserted and deleted since the last save.
  private func leaveUnsavedDeletions() {
    if insertedModels.isEmpty { return }
    for model in inserted {
      let state = model._$state
      guard state.isDeleted else { continue }
      state.keepEnds()
      state.context = nil
      state.flags.remove(.inserted)
      state.settleUnwritten()
      observers?.forgetInsertion(of: model)
    }
    insertedModels.removeAll { $0._$state.isDeleted }
  }

  /// Writes the pending changes of one store; again, if values that should be unique had to be merged first.
  ///
  /// - Returns: The save, or `nil` if nothing is pending.
  private func save(to connection: StoreConnection) throws -> StoreSave? {
    var upsert: Upsert?
    let policy = mergePolicy(in: connection)
    defer { connection.store.endSave(for: editingState) }
    do {
      guard let pending = pendingChanges(for: connection) else { return nil }
      try checkMergePolicy(policy, in: connection)
      // A list that is stored with its owner is read, corrected and written, and so are the ends of a one-to-one:
      // no other save may write them meanwhile.
      var hasEnds = false
      let saved: StoreSave?
      do {
        saved = try save(pending, by: policy, &upsert, &hasEnds, to: connection)
      } catch {
        if hasEnds { try? connection.unlockEnds() }
        throw error
      }
      if hasEnds { try connection.unlockEnds() }
      return saved
    } catch {
      upsert?.undo()
      throw error
    }
  }

  /// Writes changes to a store, and retries until no obstacle is left.
  ///
  /// - Parameters:
  ///   - pending: The changes.
  ///   - policy: The policy that decides conflicts.
  ///   - upsert: Merges values that should be unique, once there are some.
  ///   - hasEnds: Whether ends of relationships are locked, also if this throws.
  ///   - connection: The store.
  /// - Returns: The save; `nil` if no changes were left.
  /// - Throws: The obstacle that could not be settled.
  private func save(
    _ pending: ChangeSet,
    by policy: MergePolicy,
    _ upsert: inout Upsert?,
    _ hasEnds: inout Bool,
    to connection: StoreConnection
  ) throws -> StoreSave? {
    if connection.writesBothEnds(pending) {
      try connection.lockEnds()
      hasEnds = true
    }
    try connection.store.beginSave(pending, for: editingState)
    var patience: (() -> Bool)?
    var dangled = 0
    var kept: KeptClaim?
    defer { kept?.release() }
    var next: ChangeSet? = pending
    var attempts = Attempts(in: connection)
    defer { attempts.end() }
    while let changes = next {
      // Others still refer to rows deleted here. Twice may be chance; from then on the store makes them wait. A waiting save
      // may be in a turn, and have locked the ends: so this save takes both before it makes anybody wait.
      let insists = dangled > 1
      if !hasEnds, insists || connection.writesBothEnds(changes) {
        // Settling an upsert or a cascading delete has brought the first such change. Rows read without the lock are no
        // longer valid.
        try connection.lockEnds()
        hasEnds = true
        connection.store.endSave(for: editingState)
        try connection.store.beginSave(changes, for: editingState)
      }
      if try readNullified(among: changes, in: connection) {
        next = pendingChanges(for: connection)
        continue
      }
      if hasEnds,
        try catchUp(with: changes, in: connection)
      {
        next = pendingChanges(for: connection)
        continue
      }
      do {
        let derived = connection.makeDerivedRows()
        if insists { kept = kept ?? KeptClaim() }
        let (token, announcement) = try write(
          changes,
          by: policy,
          derived,
          kept,
          hasEnds: hasEnds,
          to: connection
        )
        let saved = upsert?.finish(changes) ?? changes
        return StoreSave(connection, saved, derived, token, announcement)
      } catch let obstacle where changes.changesRows && obstacle.canBeSettled {
        // The obstacle is settled among objects.
        if obstacle is DanglingReferences { dangled += 1 }
        attempts.next()
        makeModelsTakenAlong()
        next = pendingChanges(for: connection)
      } catch let unsettled as ModelClashes {
        let merging = upsert ?? Upsert(self, connection)
        upsert = merging
        // Changes made by the save itself cannot be undone.
        try withoutUndo { try merging.settle(unsettled.clashes) }
        next = pendingChanges(for: connection)
      } catch let conflicts as RowConflicts {
        attempts.next()
        try settle(conflicts, by: policy, in: connection)
        next = pendingChanges(for: connection)
      } catch let dangling as DanglingReferences {
        dangled += 1
        try withoutUndo { try mend(dangling, in: connection) }
        next = pendingChanges(for: connection)
      } catch let dangling as DanglingModels {
        dangled += 1
        try withoutUndo { try mend(dangling, in: connection) }
        next = pendingChanges(for: connection)
      } catch let moved as MovedReference {
        attempts.next()
        try keep(moved, in: connection)
        next = pendingChanges(for: connection)
      } catch let vanished as VanishedRow {
        attempts.next()
        switch try forgetVanished(among: changes, in: connection, because: vanished) {
        case .goOn: break
        case .insertReplacement:
          upsert?.undo()
          upsert = nil
        }
        next = pendingChanges(for: connection)
      } catch let lost as LostTurn {
        guard hasEnds else { throw lost.cause }
        // The next pass takes another turn, and reads rows written since. Nobody waits for the ends meanwhile.
        hasEnds = false
        kept?.release()
        try connection.unlockEnds()
        let mayGoOn = patience ?? connection.makeTurnPatience()
        patience = mayGoOn
        guard mayGoOn() else { throw lost.cause }
        next = pendingChanges(for: connection)
      }
    }
    return nil
  }

  /// Applies changes by others to the ends that a save is about to write.
  ///
  /// An undo does not revert it: it would undo the changes of others.
  ///
  /// - Returns: Whether there were any.
  private func catchUp(
    with changes: ChangeSet,
    in connection: StoreConnection
  ) throws -> Bool {
    try withoutUndo {
      try DeletePropagation.catchUp(with: changes.deleted, in: connection, of: self)
        || settlePairs(of: changes, in: connection)
    }
  }

  private func write(
    _ changes: ChangeSet,
    by policy: MergePolicy,
    _ derived: DerivedRows?,
    _ claim: KeptClaim?,
    hasEnds: Bool,
    to connection: StoreConnection
  ) throws -> (token: (any HistoryToken)?, announcement: CommitAnnouncement?) {
    var own = changes
    var isSaved = false
    defer { if !isSaved { forgetDerived(of: own, askedFor: changes, in: connection) } }
    if connection.hasRelationships {
      try validate(own)
      try prepareLists(of: own, in: connection)
    }
    try connection.store.prepare(&own, in: connection)
    // An object whose list got a member has changed, but its own row has not.
    var touched: [any PersistentModel] = []
    if !own.updated.isEmpty {
      touched = own.updated.filter { !connection.store.writes($0._$state) }
      if !touched.isEmpty { own.updated.removeAll { !connection.store.writes($0._$state) } }
      // In one request: a store that reads a whole file to answer should read it once.
      if own.updated.count > 1 { loadRows(of: own.updated.map { $0._$state }, from: connection) }
      for model in own.updated { model._$state.prepareForEncoding(model) }
      if !connection.store.comparesValues {
        try checkIncrements(among: own.updated, in: connection)
      }
    }
    if connection.hasRelationships {
      for model in own.inserted { model._$state.prepareForEncoding(model) }
    }
    // Before the commit, and never after it: a save that throws has written nothing.
    try throwDeferredError()
    // Lists that this save is about are then those of the current epoch, which the save does not end.
    for model in [own.updated, touched].joined() { model._$state.confirmLists() }
    let former = connection.changeCount
    let epoch = listEpoch
    var editing = editingState
    editing.comparesValues = policy.compares
    editing.derivedRows = derived
    editing.keptClaim = claim
    editing.hasLockedEnds = hasEnds
    var token: (any HistoryToken)?
    var announcement: CommitAnnouncement?
    if !own.isEmpty {
      announcement = coordinator.announcement(of: connection, from: inbox)
      announcement?.touch(touched)
      editing.announcement = announcement
      token = try editing.announced { try connection.store.save(own, for: editing, in: connection) }
      isSaved = true
      noticeOwnCommit(to: connection, after: former)
      forgetSiblings()
    }
    for model in touched { model._$state.settle() }
    settle(own, in: connection, savedAt: epoch)
    if let derived { settle(derived, of: own, askedFor: changes, in: connection) }
    return (token, announcement)
  }

  /// Puts together the lists that are written with their owners, from the current rows.
  private func prepareLists(of changes: ChangeSet, in connection: StoreConnection) throws {
    guard connection.keepsLists || connection.hasStoredLists else { return }
    var owners: [(state: _ModelState, lists: [ModelProperty])] = []
    for model in changes.updated {
      let state = model._$state
      let lists = state.descriptor.relationships.filter {
        $0.isToMany && (connection.keepsLists || !$0.isDerivable)
          && state.changed.contains($0.ordinal)
      }
      if !lists.isEmpty { owners.append((state, lists)) }
    }
    if owners.isEmpty || PlantedFault.overwrittenLists.isPlanted { return }
    refreshRows(of: owners.map(\.state), from: connection)
    for (state, lists) in owners {
      for property in lists {
        guard case .many(let list) = state.relation(property) else { continue }
        if !connection.keepsLists {
          findDeletedAdditions(to: list, property, in: connection)
          // The row is corrected, or the list was put together from it: no other save writes lists now.
          if state.correctsRow(list, property) { continue }
          if state.isCurrent(list, property), state.learnsDeletions(list, property),
            knowsAll(of: state)
          {
            continue
          }
        }
        if list.isLoaded || property.isDerivable { state.load(list, property) }
      }
    }
    try throwDeferredError()
  }

  /// The pending changes of one store; `nil` if there are none.
  private func pendingChanges(for connection: StoreConnection) -> ChangeSet? {
    var changes = ChangeSet()
    // Objects of one class mostly come together: look the store of a class up once.
    var last: (descriptor: ModelDescriptor, isOwn: Bool)?
    let assigned = storesOfNewModels
    changes.inserted = inserted.keeping { state in
      if state.isDeleted { return false }
      if let store = assigned?[state] { return store === connection }
      let descriptor = state.descriptor
      if let last, last.descriptor === descriptor { return last.isOwn }
      let isOwn = coordinator.connection(for: descriptor) === connection
      last = (descriptor, isOwn)
      return isOwn
    }
    changes.updated = changed.keeping { !$0.isDeleted && $0.connection === connection }
    changes.deleted = deletedInMemory.keeping { $0.connection === connection }
    addRowsTakenAlong(in: connection, to: &changes)
    return changes.isEmpty ? nil : changes
  }

  /// Updates the objects of one store's changes after the save.
  ///
  /// - Parameters:
  ///   - changes: The saved changes.
  ///   - connection: The store.
  ///   - epoch: The context's epoch of the store right before the commit.
  private func settle(
    _ changes: ChangeSet,
    in connection: StoreConnection,
    savedAt epoch: UInt32
  ) {
    for model in changes.inserted {
      let state = model._$state
      if let former = maps[connection.index][state.reference], former !== state {
        // The store itself made the insert an update: the row already has an object.
        leave(state, to: former)
        continue
      }
      maps[connection.index].insert(state, at: state.reference)
      state.settle()
      // An object that was deleted and inserted again still had its former row.
      if unsafe state.row != nil { state.dropRow() }
      // An updated object's other values stay as old as the row they were read from.
      state.rowEpoch = epoch
      if remembersReads {
        state.reread(model)
      } else if !PlantedFault.staleSavedValues.isPlanted {
        state.flags.insert(.hasSavedValues)
      }
    }
    for model in changes.updated { settleUpdate(of: model) }
    for model in changes.deleted { model._$state.settleDeletion() }
    if !hasRowsTakenAlong, changes.changesRows {
      // Saving looked at one of them, and made objects of all.
      let map = maps[connection.index]
      for row in changes.deletedRows { map[row]?.settleDeletion() }
      for reference in changes.clearedReferences {
        if let model = map[reference.row]?.model { settleUpdate(of: model) }
      }
    }
    forgetTakenAlong(in: connection)
    if !insertedModels.isEmpty { inserted.drop { !$0.flags.contains(.inserted) } }
    if !changedModels.isEmpty { changed.drop { !$0.flags.contains(.listed) } }
    if !deletedModels.isEmpty { deletedInMemory.drop { $0.context == nil } }
  }

  private func settleUpdate(of model: any PersistentModel) {
    let state = model._$state
    state.settle()
    state.dropRow()
    if remembersReads { state.reread(model) } else { state.flags.insert(.hasSavedValues) }
  }

  /// Brings the change lists up to date, and saves if the context saves by itself.
  ///
  /// Changes are processed as they are made: the lists are always what the next save writes. It only remains
  /// to end the undo manager's group, and to take over the saves of other contexts and processes if
  /// ``automaticallyMergesChanges`` is on.
  public func processPendingChanges() {
    checked {
      endUndoGroup()
      if inbox != nil { coordinator.remoteSaves.look() }
      mergeSavedChanges()
      observers?.mayHaveChangedElsewhere()
      autosaveNow()
    }
  }

  /// Runs a block and saves once; a nested transaction is part of the outer one.
  ///
  /// - Throws: The error of the block, after which its changes are still pending; or an error of saving.
  public func transaction(block: () throws -> Void) throws {
    transactionDepth += 1
    defer { transactionDepth -= 1 }
    try block()
    if transactionDepth == 1 { try save() }
  }
}

extension Error {
  /// Whether a save can settle the error among objects and retry.
  fileprivate var canBeSettled: Bool {
    self is ModelClashes || self is RowConflicts || self is DanglingReferences
      || self is MovedReference || self is VanishedRow
  }
}

extension [any PersistentModel] {
  /// The models whose states pass a test: the list itself, if all do.
  fileprivate func keeping(_ isWanted: (_ModelState) -> Bool) -> Self {
    guard let first = firstIndex(where: { !isWanted($0._$state) }) else { return self }
    return self[..<first] + self[(first + 1)...].filter { isWanted($0._$state) }
  }

  /// Removes the models whose states pass a test; a short list keeps its memory for the next save.
  fileprivate mutating func drop(_ isDone: (_ModelState) -> Bool) {
    if isEmpty { return }
    if allSatisfy({ isDone($0._$state) }) {
      removeAll(keepingCapacity: capacity <= 64)
    } else {
      removeAll { isDone($0._$state) }
    }
  }
}

/// The result of a save in one store.
struct StoreSave {
  let connection: StoreConnection
  let changes: ChangeSet
  /// The rows changed only because of derived attributes.
  let derived: [RowReference]
  /// The bookmark after the save, if the store keeps history.
  let token: (any HistoryToken)?
  /// What the store was given to announce the commit.
  let announcement: CommitAnnouncement?

  init(
    _ connection: StoreConnection,
    _ changes: ChangeSet,
    _ derived: DerivedRows?,
    _ token: (any HistoryToken)?,
    _ announcement: CommitAnnouncement?
  ) {
    self.announcement = announcement
    self.connection = connection
    self.changes = changes
    self.derived = derived?.updated ?? []
    self.token = token
  }
}

extension SavedRows {
  /// The rows of a save that succeeded.
  fileprivate init(_ save: StoreSave) {
    let changes = save.changes
    connectionIndex = save.connection.index
    inserted = changes.inserted.map { $0._$state.reference }
    updated = changes.updated.map { $0._$state.reference }
    if !save.derived.isEmpty { updated += save.derived }
    updated += changes.clearedReferences.map(\.row)
    deleted = changes.deleted.map { $0._$state.reference } + changes.deletedRows
  }
}

extension _ModelState {
  /// Forgets changes that are saved, or discarded.
  ///
  /// Loaded relationships are released too. They are in the store now, and releasing them lets
  /// objects that refer to each other be freed. Only the most recently changed lists stay a while
  /// longer, so that the next append need not load them again (see ``RecentLists``).
  func settle() {
    forgetChanges()
    forgetPendingRanks()
    forgetNullified()
    if mergeMemory != nil { mergeMemory = nil }
    flags.remove([.hasUnreadChanges, .hasMergedValues])
    settleRelations()
    flags.remove(.listed)
    if isListedByValue {
      isListedByValue = false
      updateIsObserved()
    }
    context?.beKept(by: self)
  }

  /// Forgets changes that nothing was written of, because the object leaves its context with them.
  func settleUnwritten() {
    let unwritten = unwrittenChanges
    settle()
    unwrittenChanges = unwritten
  }

  /// Removes the object from its context: its delete is saved.
  fileprivate func settleDeletion() {
    keepEnds()
    context = nil
    settleUnwritten()
    flags.insert(.vanished)
  }

  /// Makes the object read its values from the row again.
  fileprivate func reread(_ model: any PersistentModel) {
    flags.remove(.hasSavedValues)
    model._$reset()
  }

  private var hasLoadedList: Bool {
    relations.contains { if case .many(let list) = $0 { list.isLoaded } else { false } }
  }

  private func settleRelations() {
    if relations.isEmpty { return }
    // Most models have no list that stays.
    guard hasLoadedList else { return dropRelations() }
    var memberCount = 0
    for property in descriptor.relationships {
      if case .many(let list) = relation(property), list.isLoaded {
        list.settle()
        list.letGoOfRemovals()
        memberCount += list.keptCount
      } else if property.relationIndex < relations.count {
        relations[property.relationIndex] = .unloaded
      }
    }
    if memberCount > 0, let context {
      context.keepLists(memberCount, of: self)
    } else {
      dropRelations()
    }
  }
}

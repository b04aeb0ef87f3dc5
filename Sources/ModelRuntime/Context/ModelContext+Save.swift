public import Foundation
import RowFormat

extension ModelContext {
  /// Posted before a save, with the context as its object.
  public static let willSave = Notification.Name("SwiftData.ModelContext.willSave")

  /// Posted after a save that succeeded, with the context as its object and, in `userInfo`, the
  /// identifiers of what was inserted, updated and deleted under ``NotificationKey``.
  public static let didSave = Notification.Name("SwiftData.ModelContext.didSave")

  /// The keys of a save notification.
  ///
  /// Each value is an array, stands under the key and under its `rawValue`, and is there only if it holds
  /// something.
  public enum NotificationKey: String, Sendable {
    case queryGeneration, invalidatedAllIdentifiers
    case insertedIdentifiers, updatedIdentifiers, deletedIdentifiers
  }

  /// Writes all pending changes to the stores: for each store all of them, or none.
  ///
  /// A save without changes does nothing. When it throws, every change stays pending.
  ///
  /// - Throws: A validation error that names model and property, a denied delete, or what the store
  ///   could not do.
  public func save() throws {
    try checked { try saveNow() }
  }

  private func saveNow() throws {
    try throwDeferredError()
    mergeSavedChanges()
    guard hasChanges else { return }
    NotificationCenter.default.post(name: ModelContext.willSave, object: self)
    endUndoGroup()
    try DeletePropagation.checkDenials(deleted)
    var saved: [Int: ChangeSet] = [:]
    for connection in coordinator.connections {
      if let changes = try save(to: connection) { saved[connection.index] = changes }
      try throwDeferredError()
    }
    inserted.removeAll { $0._$state.isDeleted }
    undo.saveCount += 1
    coordinator.inboxes.post(saved.map { SavedRows($1, in: $0) }, from: inbox)
    notifySaved(saved.values.map { $0 })
  }

  /// Writes what is pending for one store; again, if values that should be unique had to be merged first.
  ///
  /// - Returns: What was written, or `nil` if nothing is pending.
  private func save(to connection: StoreConnection) throws -> ChangeSet? {
    var upsert: Upsert?
    defer { connection.endSave(for: editingState) }
    do {
      if let changes = collectChanges()[connection.index] {
        try connection.beginSave(changes, for: editingState)
      }
      while let changes = collectChanges()[connection.index] {
        do {
          try write(changes, to: connection)
          upsert?.finish()
          return changes
        } catch let unsettled as ModelClashes {
          let merging = upsert ?? Upsert(self, connection)
          upsert = merging
          try merging.settle(unsettled.clashes)
        }
      }
    } catch {
      upsert?.undo()
      throw error
    }
    return nil
  }

  private func write(_ changes: ChangeSet, to connection: StoreConnection) throws {
    var own = changes
    guard connection.allowsSave else {
      throw SwiftDataError.saveNotAllowed(configuration: connection.configurationName)
    }
    try validate(own)
    try connection.prepare(&own)
    // An object whose list got a member has changed, but its own row has not.
    let touched = own.updated.filter { !connection.writes($0._$state) }
    own.updated.removeAll { !connection.writes($0._$state) }
    // In one request: a store that reads a whole file to answer shall not do so for each of them.
    if own.updated.count > 1 { loadRows(of: own.updated.map { $0._$state }, from: connection) }
    for model in own.inserted + own.updated { model._$state.prepareForEncoding(model) }
    if !own.isEmpty { try connection.save(own, for: editingState) }
    for model in touched { model._$state.settle() }
    settle(own, in: connection)
  }

  /// Sorts what is pending by the store it belongs to.
  private func collectChanges() -> [Int: ChangeSet] {
    var changes: [Int: ChangeSet] = [:]
    for model in insertedModelsArray {
      guard let connection = coordinator.connection(for: model._$state.descriptor) else { continue }
      changes[connection.index, default: ChangeSet()].inserted.append(model)
    }
    for model in changedModelsArray {
      guard let connection = model._$state.connection else { continue }
      changes[connection.index, default: ChangeSet()].updated.append(model)
    }
    for model in deleted {
      guard let connection = model._$state.connection else { continue }
      changes[connection.index, default: ChangeSet()].deleted.append(model)
    }
    return changes
  }

  /// Makes the objects of one store's changes what they are after the save.
  private func settle(_ changes: ChangeSet, in connection: StoreConnection) {
    for model in changes.inserted {
      let state = model._$state
      if let former = maps[connection.index][state.reference], former !== state {
        // The store itself made an update of the insert: the row has its object already.
        leave(state, to: former)
        continue
      }
      maps[connection.index].insert(state, at: state.reference)
      state.settle()
    }
    for model in changes.updated {
      model._$state.settle()
      model._$state.dropRow()
    }
    for model in changes.deleted {
      let state = model._$state
      forget(state)
      state.context = nil
      state.settle()
      state.flags.insert(.vanished)
    }
    inserted.removeAll { !$0._$state.flags.contains(.inserted) }
    changed.removeAll { !$0._$state.flags.contains(.listed) }
    deleted.removeAll { $0._$state.connection === connection }
  }

  private func notifySaved(_ changes: [ChangeSet]) {
    // Hashing these keys is most of what a small save costs: only lists that hold something are entered.
    var info: [AnyHashable: Any] = Dictionary(minimumCapacity: 4)
    func set(_ key: NotificationKey, _ list: KeyPath<ChangeSet, [any PersistentModel]>) {
      let identifiers = changes.flatMap { $0[keyPath: list].map { $0.persistentModelID } }
      if identifiers.isEmpty { return }
      info[key] = identifiers
      info[key.rawValue] = identifiers
    }
    set(.insertedIdentifiers, \.inserted)
    set(.updatedIdentifiers, \.updated)
    set(.deletedIdentifiers, \.deleted)
    NotificationCenter.default.post(name: ModelContext.didSave, object: self, userInfo: info)
  }

  /// Forgets all pending changes: inserted objects leave the context, changed ones go back to what the
  /// store has, deleted ones are there again.
  public func rollback() {
    deferredError = nil
    undo.manager?.removeAllActions(withTarget: self)
    for model in inserted {
      let state = model._$state
      state.context = nil
      state.updateIsObserved()
      state.flags.remove([.inserted, .deleted, .listed])
      state.reference = .none
    }
    for model in changed + deleted {
      let state = model._$state
      state.settle()
      state.dropRelations()
      state.flags.remove(.deleted)
      model._$reset()
      for property in state.descriptor.properties { property.notify(model) }
    }
    inserted.removeAll()
    changed.removeAll()
    deleted.removeAll()
  }

  /// Brings the change lists up to date, and saves if the context saves by itself.
  ///
  /// Changes are processed as they are made: the lists are always what the next save writes. What is left
  /// to do is to end the undo manager's group, and to take over what other contexts saved if
  /// ``automaticallyMergesChanges`` is on.
  public func processPendingChanges() {
    endUndoGroup()
    mergeSavedChanges()
    autosaveNow()
  }

  /// Runs a block and saves once; a transaction inside another is part of that one.
  ///
  /// - Throws: What the block throws, after which its changes are still pending; or what saving throws.
  public func transaction(block: () throws -> Void) throws {
    transactionDepth += 1
    defer { transactionDepth -= 1 }
    try block()
    if transactionDepth == 1 { try save() }
  }
}

extension SavedRows {
  /// The rows of a save that succeeded.
  fileprivate init(_ changes: ChangeSet, in connectionIndex: Int) {
    self.connectionIndex = connectionIndex
    inserted = changes.inserted.map { $0._$state.reference }
    updated = changes.updated.map { $0._$state.reference }
    deleted = changes.deleted.map { $0._$state.reference }
  }
}

extension _ModelState {
  /// Forgets what has changed: it is saved, or given up.
  ///
  /// Loaded relationships go too. They are in the store now, and letting go of them is what lets
  /// objects that refer to each other be freed. Only the lists that were changed last stay a while
  /// longer, so that the next append need not load them again (see ``RecentLists``).
  func settle() {
    changed = ColumnSet()
    reordered = ColumnSet()
    pendingRanks = nil
    settleRelations()
    flags.remove(.listed)
    context?.beKept(by: self)
  }

  private func settleRelations() {
    if relations.isEmpty { return }
    var memberCount = 0
    for property in descriptor.relationships {
      if property.isDerivable, case .many(let list) = relation(property) {
        list.added = []
        memberCount += list.count
      } else {
        setRelation(.unloaded, property)
      }
    }
    if memberCount > 0, let context {
      context.recentLists.keep(lists: memberCount, of: self)
    } else {
      dropRelations()
    }
  }
}

import RowFormat

/// The observers of a context's changes.
///
/// A context without observers has none. It does not keep its observers alive: they keep the context.
final class ContextObservers {
  private struct Entry {
    weak var observer: ContextObserver?
  }

  private var entries = Registry<Entry>()
  /// The place of each unsaved model among the unsaved ones, in the order of insertion.
  private var insertions: [ObjectIdentifier: UInt64] = [:]
  private var insertionCount: UInt64 = 0
  /// Whether observers are being notified of a change right now.
  ///
  /// Observers keep showing the old value meanwhile: as with any observed property, `onChange` sees the value
  /// before the change.
  private(set) var isTelling = false
  /// Whether an observer is bringing its results up to date.
  private var isSettling = false
  /// The objects whose lists may have been accessed.
  var listOwners = ListOwners()

  init(_ context: ModelContext) {
    for model in context.inserted { numberInsertion(of: model) }
    // From now on their setters report every call.
    for model in context.inserted + context.changed { model._$state.isObserved = true }
    for state in context.maps.flatMap(\.states) { listOwners.insert(state) }
    for model in context.inserted { listOwners.insert(model._$state) }
  }

  var isEmpty: Bool { entries.isEmpty }

  func add(_ observer: ContextObserver) {
    entries.append(Entry(observer: observer), as: ObjectIdentifier(observer))
  }

  func remove(_ id: ObjectIdentifier) { entries.remove(id) }

  /// The place of an unsaved model among the unsaved ones.
  func insertion(of model: any PersistentModel) -> UInt64 {
    insertions[ObjectIdentifier(model)] ?? insertionCount
  }

  func tell(_ body: () -> Void) {
    let wasTelling = isTelling
    isTelling = true
    defer { isTelling = wasTelling }
    body()
  }

  /// Records that an observer brings its results up to date.
  ///
  /// - Returns: Whether it is the only one; then ``endSettling()`` follows.
  func beginSettling() -> Bool {
    if isSettling { return false }
    isSettling = true
    return true
  }

  func endSettling() { isSettling = false }

  /// Moves a model behind all others that were never saved, wherever its place was before.
  func numberInsertion(of model: any PersistentModel) {
    insertionCount += 1
    insertions[ObjectIdentifier(model)] = insertionCount
  }

  /// Forgets a model that is no longer unsaved and may be freed soon: another one may be allocated at its address.
  func forgetInsertion(of model: any PersistentModel) { insertions[ObjectIdentifier(model)] = nil }

  private func forEach(_ body: (ContextObserver) -> Void) {
    for entry in entries { if let observer = entry.observer { body(observer) } }
  }
}

// MARK: Notifications from the context

extension ContextObservers {
  /// Records that a property of a model is about to change, or has just changed.
  func propertyChanges(_ property: Int, of model: any PersistentModel) {
    let descriptor = model._$state.descriptor
    forEach { $0.propertyChanges(property, of: model, descriptor) }
  }

  /// Records that a model is about to get its first unsaved change, or that its last one was undone.
  func unsavedChangesBeginOrEnd(of model: any PersistentModel) {
    let descriptor = model._$state.descriptor
    forEach { $0.unsavedChangesBeginOrEnd(of: model, descriptor) }
  }

  /// Records that a model was inserted, or that its delete was cancelled.
  func came(_ model: any PersistentModel) {
    let descriptor = model._$state.descriptor
    forEach { $0.cameOrWent(model, descriptor) }
  }

  /// Records that a model was deleted, or left the context.
  func went(_ model: any PersistentModel) {
    // A model that was deleted unsaved, and is restored, keeps its place among the unsaved ones.
    if model._$state.context == nil { forgetInsertion(of: model) }
    let descriptor = model._$state.descriptor
    forEach { $0.cameOrWent(model, descriptor) }
  }

  /// Records that a model has taken over values that the context did not set.
  func refreshed(_ model: any PersistentModel) {
    let descriptor = model._$state.descriptor
    forEach { $0.refreshed(model, descriptor) }
  }

  /// Records that a model has stayed, or left, after several stood for one row.
  func settled(_ model: any PersistentModel) {
    let descriptor = model._$state.descriptor
    forEach { $0.cameOrWent(model, descriptor) }
  }

  /// Records that changes were written.
  func saved(_ changes: [ChangeSet], pending: [any PersistentModel]) {
    for model in changes.lazy.flatMap(\.inserted) {
      forgetInsertion(of: model)
      let descriptor = model._$state.descriptor
      forEach { $0.cameOrWent(model, descriptor) }
    }
    if pending.isEmpty { insertions = [:] }
    for change in changes { forEach { $0.saved(change) } }
    showChanges()
  }

  /// Records that unsaved changes of some models were discarded.
  func rolledBack(_ models: [any PersistentModel]) {
    insertions = [:]
    for model in models {
      let descriptor = model._$state.descriptor
      forEach {
        $0.cameOrWent(model, descriptor)
        $0.refreshed(model, descriptor)
      }
    }
    showChanges()
  }

  /// The rows of a save of others that observers are going to look at.
  func wantedRows(of save: SavedRows, from connection: StoreConnection) -> [RowReference] {
    var rows: [RowReference] = []
    forEach { rows += $0.wantedRows(of: save, from: connection) }
    return rows
  }

  /// Records that other contexts have saved, after the registered models were updated.
  func merged(_ saves: [SavedRows], from connections: [StoreConnection]) {
    for save in saves { forEach { $0.merged(save, from: connections[save.connectionIndex]) } }
    showChanges()
  }

  /// Records that another process may have saved.
  func mayHaveChangedElsewhere() {
    forEach { $0.mayHaveChangedElsewhere() }
    showChanges()
  }

  /// Makes changes visible after all updates: code that waits for a change can now read it.
  func showChanges() { forEach { $0.showChanges() } }
}

/// Follows the changes of a context.
class ContextObserver {
  func propertyChanges(
    _ property: Int,
    of model: any PersistentModel,
    _ descriptor: ModelDescriptor
  ) {}
  func unsavedChangesBeginOrEnd(of model: any PersistentModel, _ descriptor: ModelDescriptor) {}
  func cameOrWent(_ model: any PersistentModel, _ descriptor: ModelDescriptor) {}
  func refreshed(_ model: any PersistentModel, _ descriptor: ModelDescriptor) {}
  func saved(_ changes: ChangeSet) {}
  func wantedRows(of save: SavedRows, from connection: StoreConnection) -> [RowReference] { [] }
  func merged(_ save: SavedRows, from connection: StoreConnection) {}
  func mayHaveChangedElsewhere() {}
  func showChanges() {}
}

extension ModelContext {
  func addObserver(_ observer: ContextObserver) {
    makeModelsTakenAlong()
    let observers = observers ?? ContextObservers(self)
    self.observers = observers
    observers.add(observer)
    updateInbox()
  }

  func removeObserver(_ id: ObjectIdentifier) {
    observers?.remove(id)
    // A context that is notifying continues with its current list.
    if observers?.isEmpty == true {
      observers?.listOwners.removeAll()
      observers = nil
    }
    updateInbox()
  }
}

import Foundation
import RowFormat

/// The objects an app works with, and the changes it has made to them since the last save.
///
/// A context hands out one object for each row, keeps track of inserted, changed and deleted objects, and
/// writes all of it in one atomic ``save()``.
///
/// Invariants:
/// - An object is in at most one context, and a row has at most one object in a context.
/// - Objects with unsaved changes are held strongly; others live as long as the app holds them.
/// - Changes that a failed save could not write stay pending.
///
/// A context belongs to one thread, actor or queue at a time.
///
/// Safe to use, because observed objects remove themselves from `watched` before they are freed.
@safe public class ModelContext: Equatable, SendableMetatype {
  let coordinator: StoreCoordinator
  private weak var knownContainer: ModelContainer?
  /// The container that the context created after the original one was freed.
  private var ownContainer: ModelContainer?

  /// The container the context was made from; after that is freed, another one of the same stores.
  ///
  /// The two are equal, and share one main context.
  public var container: ModelContainer {
    if let knownContainer { return knownContainer }
    let container = ModelContainer(coordinator)
    knownContainer = container
    // This keeps its main context alive, with its pending changes. The main context is held by its container, and must not
    // hold it in return.
    if !autosave.isMain { ownContainer = container }
    return container
  }

  /// The context's session, as its stores see it.
  @safe @exclusivity(unchecked) public var editingState: EditingState

  /// The author of this context's changes; written into the history.
  public var author: String? {
    get { editingState.author }
    set { editingState.author = newValue }
  }

  /// The registered objects, by store.
  let maps: [IdentityMap]
  @safe @exclusivity(unchecked) var insertedModels = OrderedModels() {
    didSet { unsaved.insertedCountChanges(to: insertedModels.count) }
  }
  @safe @exclusivity(unchecked) var changedModels = OrderedModels() {
    didSet { unsaved.changedCountChanges(to: changedModels.count) }
  }
  @safe @exclusivity(unchecked) var deletedModels = OrderedModels() {
    didSet { unsaved.deletedCountChanges(to: deletedModels.count) }
  }
  /// The members of lists that are deleted with their owners or lose them, and whether some of them have no objects: those
  /// are not among the deleted and changed models.
  @safe @exclusivity(unchecked) var takenAlong: [TakenAlong] = []
  @safe @exclusivity(unchecked) var hasRowsTakenAlong = false
  /// Index of the first of them without objects; earlier members never get any rows.
  @safe @exclusivity(unchecked) var firstRowsTakenAlong = 0
  /// The tables of such rows, in any store, and the context's list epoch when they were found.
  @safe @exclusivity(unchecked) var tablesTakenAlong: [UInt16] = []
  @safe @exclusivity(unchecked) var rowsTakenAlongEpoch: UInt32 = 0
  /// The same objects, indexed for fetches.
  let unsaved = UnsavedModels()
  /// The fetches that are made again and again meanwhile.
  @safe @exclusivity(unchecked) var repeatedFetches = RepeatedFetches()
  /// The unsaved models whose temporary identifiers were requested, by key, and some that are no longer unsaved.
  @safe @exclusivity(unchecked) private var temporaries = TemporaryModels()
  /// Number of objects that have entered the context, and number that have left it.
  @safe @exclusivity(unchecked) var attachedCount = 0
  @safe @exclusivity(unchecked) var detachedCount = 0
  /// The commits of its stores that the context has seen.
  @safe @exclusivity(unchecked) var epochs: CommitEpochs
  @safe @exclusivity(unchecked) var deletions = RecentDeletions()
  /// The objects whose lists are observed.
  var watched: [ObjectIdentifier: Unmanaged<_ModelState>] = unsafe [:]
  /// Objects waiting to be inserted while another is: graphs are walked without recursion.
  @safe @exclusivity(unchecked) var insertionQueue: [any PersistentModel] = []
  @safe @exclusivity(unchecked) var isInserting = false
  /// The class of the object inserted last. (Descriptors are never freed.)
  @safe @exclusivity(unchecked) unowned(unsafe) var lastInserted: ModelDescriptor?
  @safe @exclusivity(unchecked) var recentLists = RecentLists()
  /// The stores of new models whose deletes were saved, where their classes do not decide.
  var formerStores: [ObjectIdentifier: StoreConnection] = [:]
  /// The stores of new models, during a save, where their classes do not decide.
  @safe @exclusivity(unchecked) var storesOfNewModels: StoresOfNewModels?
  /// Plans for predicates that name a value.
  @safe @exclusivity(unchecked) var lookUps = LookUpPlans()
  @safe @exclusivity(unchecked) var undo = ContextUndo()
  /// Number of nested transactions.
  var transactionDepth = 0
  /// Saves of other contexts that this one has not taken over yet; `nil` if it does not merge.
  @safe @exclusivity(unchecked) var inbox: SaveInbox?
  /// Whether the context takes over the saves of others, observed or not.
  var mergesChanges = false
  /// The observers of this context's changes, if there are any.
  @safe @exclusivity(unchecked) var observers: ContextObservers?
  /// The context whose batch makes its objects in this one: it is the object of the notifications of saves.
  var noticeSender: ModelContext?
  /// Rings when a save arrives in the inbox.
  lazy var saveBell = SaveBell()
  /// The models at the other ends of relationships that the last prefetching fetch found.
  var prefetched: [any PersistentModel] = []
  /// Rows of remote stores read for the siblings of models, by the store's position.
  @safe @exclusivity(unchecked) var siblingCaches: [Int: SiblingCache] = [:]
  /// The owner of the context, and its current user; only ``ConcurrencyCheck`` reads them.
  var owner = ContextOwner.nobody
  let use = ContextUse()
  @safe @exclusivity(unchecked) var autosave = Autosave()
  /// The reference by which deleted objects find the context, once there are any.
  @safe @exclusivity(unchecked) var ownReference: ContextReference?
  /// An error that occurred in code that cannot throw; the next save or fetch throws it.
  @safe @exclusivity(unchecked) var deferredError: (any Error)?
  /// The merge policy of the context's saves; `nil` for the policies of the stores' configurations.
  var ownMergePolicy: MergePolicy?
  /// The policy of the current save, if it has its own.
  var savePolicy: MergePolicy?
  /// Whether objects may be newer than others, since a fetch has met what others saved and what is not taken over.
  var isAhead = false
  /// Whether the context reads one state at present, and has taken over all that it has.
  var holdsState = false
  /// Whether every value that is read and changed comes from a row whose bytes are known.
  var remembersReads = false

  /// Makes a context over the stores of a container.
  ///
  /// The context keeps the container's stores open, but not the container. Making one reads nothing, so a server can make
  /// one for each request.
  public init(_ container: ModelContainer) {
    coordinator = container.coordinator
    knownContainer = container
    editingState = EditingState()
    maps = coordinator.connections.map(IdentityMap.init)
    epochs = CommitEpochs(seeing: coordinator.connections.map { $0.changeCount ?? 0 })
    remembersReads = coordinator.connections.contains { $0.mergePolicy.compares }
    for connection in coordinator.connections { connection.store.begin(editingState) }
  }

  /// Makes a context for the objects of a context that is being freed.
  private init(succeeding former: ModelContext) {
    coordinator = former.coordinator
    knownContainer = former.knownContainer
    ownContainer = former.ownContainer
    editingState = EditingState()
    editingState.author = former.author
    ownMergePolicy = former.ownMergePolicy
    remembersReads = former.remembersReads
    maps = coordinator.connections.map(IdentityMap.init)
    epochs = former.epochs
    for connection in coordinator.connections { connection.store.begin(editingState) }
    automaticallyMergesChanges = former.mergesChanges
  }

  deinit {
    if let inbox { coordinator.remove(inbox) }
    cutOff()
    letRelationshipsGo()
    handOver()
    assert(
      attachedCount == detachedCount,
      "\(attachedCount - detachedCount) objects still refer to a context that is gone"
    )
    for connection in coordinator.connections { connection.store.end(editingState) }
  }

  public static func == (lhs: ModelContext, rhs: ModelContext) -> Bool { lhs === rhs }

  /// Whether there are insertions, changes or deletes since the last save.
  public var hasChanges: Bool {
    !deletedModels.isEmpty || hasRowsTakenAlong || inserted.contains { !$0._$state.isDeleted }
      || changed.contains { !$0._$state.isDeleted }
  }

  /// The objects that the next save will add.
  public var insertedModelsArray: [any PersistentModel] {
    inserted.filter { !$0._$state.isDeleted }
  }

  /// The objects that the next save will update.
  public var changedModelsArray: [any PersistentModel] {
    makeModelsTakenAlong()
    return changed.filter { !$0._$state.isDeleted }
  }

  /// The objects that the next save will delete.
  public var deletedModelsArray: [any PersistentModel] { deleted }
}

extension ModelContext {
  /// The objects to be added, changed and deleted, in the order of their first change.
  var inserted: [any PersistentModel] {
    get { insertedModels.settled ?? insertedModels.elements }
    _modify { yield &insertedModels.array }
  }
  var changed: [any PersistentModel] {
    get { changedModels.settled ?? changedModels.elements }
    _modify { yield &changedModels.array }
  }
  var deleted: [any PersistentModel] {
    makeModelsTakenAlong()
    return deletedInMemory
  }
  /// The objects to be deleted, without those members of deleted owners that have no objects.
  var deletedInMemory: [any PersistentModel] {
    get { deletedModels.settled ?? deletedModels.elements }
    _modify { yield &deletedModels.array }
  }

  /// Registers an unsaved model under its temporary identifier.
  func registerTemporary(_ identifier: PersistentIdentifier, of model: any PersistentModel) {
    if identifier.isTemporary { temporaries[identifier.id.key] = model }
  }

  /// The unsaved model of a temporary identifier.
  func unsavedModel(for identifier: PersistentIdentifier) -> (any PersistentModel)? {
    guard let model = temporaries[identifier.id.key] else { return nil }
    let state = model._$state
    let isOwn = state.context === self && state.flags.contains(.inserted)
    return isOwn && state.identifierIfKnown == identifier ? model : nil
  }

  /// Forgets the temporary identifiers of models that are saved, or have left.
  func forgetTemporaries() {
    if temporaries.isEmpty { return }
    temporaries.removeAll {
      $0._$state.context !== self || !$0._$state.flags.contains(.inserted)
    }
  }
}

// MARK: The end of a context

extension ModelContext {
  /// Detaches the objects with unsaved changes, which can no longer be saved.
  private func cutOff() {
    for list in [inserted, changed, deletedInMemory] {
      for model in list {
        let state = model._$state
        state.context = nil
      }
    }
  }

  /// Releases every relationship in memory, and with it all objects that have no other reference.
  private func letRelationshipsGo() {
    // Held together, so that none is freed before all relationships are released.
    let held = maps.flatMap(\.states).compactMap(\.model)
    for model in held { model._$state.dropRelations() }
    for model in inserted + changed + deletedInMemory { model._$state.dropRelations() }
    prefetched = []
    siblingCaches = [:]
    temporaries.removeAll()
  }

  /// Moves the remaining objects to a new context, which they keep alive.
  ///
  /// They were found through relationships, and did not keep this context alive, so that cycles of objects do not keep it
  /// for ever. Code that holds one can still follow its relationships.
  private func handOver() {
    if maps.allSatisfy({ $0.count == 0 }) { return handOverReference(to: nil) }
    for map in maps { map.makeStates() }
    let next = ModelContext(succeeding: self)
    handOverReference(to: next)
    for (former, map) in zip(maps, next.maps) {
      for state in former.states {
        let isWatched = state.flags.contains(.isWatched)
        state.context = next
        map.insert(state, at: state.reference)
        state.rowEpoch = 0
        state.flags.remove([.isHeld, .keepsLists])
        if isWatched { next.watch(state) }
        next.beKept(by: state)
      }
    }
  }
}

@available(*, unavailable, message: "contexts cannot be shared across concurrency contexts")
extension ModelContext: @unchecked Sendable {}

// MARK: Calls from states

extension ModelContext {
  /// Adds an object to the list of changed ones.
  ///
  /// - Parameters:
  ///   - state: The object's state.
  ///   - property: The first property that is about to change; `nil` if only its place in a list is.
  func recordChange(of state: _ModelState, property: Int?) {
    checked("changing a model") {
      guard let model = state.model, !state.flags.contains(.listed) else { return }
      state.flags.insert(.listed)
      state.isListedByValue = false
      changedModels.append(model)
      letGo(of: state)
      scheduleAutosave()
      guard let observers else { return }
      // Its setters then report each call.
      state.isObserved = true
      observers.unsavedChangesBeginOrEnd(of: model)
      if let property { observers.propertyChanges(property, of: model) }
    }
  }

  /// Makes an object without unsaved changes keep the context alive.
  ///
  /// Not with an undo manager: it keeps objects, and the context keeps it. Nor for an object held by a relationship:
  /// the one at the other end may be held by the context, or by the object itself.
  func beKept(by state: _ModelState) {
    let mayKeep = undo.manager == nil && !state.flags.contains(.isHeld)
    state.contextKeeper = mayKeep ? self : nil
  }

  /// Stops an object from keeping the context, because from now on the context keeps the object.
  func letGo(of state: _ModelState) {
    // The object's reference may be the caller's only one.
    withExtendedLifetime(self) { state.contextKeeper = nil }
  }

  /// Forgets an object that is being freed, or leaves the context: nothing here refers to it any more.
  func forget(_ state: _ModelState) {
    if state.flags.contains(.keepsLists) { recentLists.forget(state) }
    if state.flags.contains(.isWatched) {
      state.flags.remove(.isWatched)
      unsafe watched[ObjectIdentifier(state)] = nil
    }
    if state.flags.contains(.ownsLists) { observers?.listOwners.remove(state) }
    guard let connection = state.connection, state.reference != .none else { return }
    maps[connection.index].remove(state, at: state.reference)
  }

  /// Registers an observed object: observers of its lists are notified when these may have changed.
  func watch(_ state: _ModelState) {
    state.flags.insert(.isWatched)
    unsafe watched[ObjectIdentifier(state)] = unsafe Unmanaged.passUnretained(state)
  }

  /// The objects whose lists are observed, in no order.
  var watchedStates: [_ModelState] { unsafe watched.values.map { unsafe $0.takeUnretainedValue() } }

  /// Fetches the row of an object that has none in memory.
  func loadRow(of state: _ModelState) {
    checked("reading a model") {
      guard let connection = state.connection else { return }
      noticeCommitsIfCounted(to: connection)
      do {
        if connection.loadsSiblings, try loadRowWithSiblings(of: state, in: connection) { return }
        if let row = try connection.store.row(at: state.reference, for: editingState) {
          refresh(state, from: row)
        } else {
          state.vanish()
        }
      } catch {
        deferredError = deferredError ?? error
      }
    }
  }

  /// Fetches in one request the rows of those objects that have none in memory.
  func loadRows(of states: [_ModelState], from connection: StoreConnection) {
    let missing = states.filter(\.needsRow)
    if missing.isEmpty { return }
    assert(!missing.contains { $0.isElsewhere(than: connection) }, "a row of another store is read")
    noticeCommitsIfCounted(to: connection)
    do {
      let rows = try connection.store.rows(at: missing.map(\.reference), for: editingState)
      for (state, row) in zip(missing, rows) {
        if let row { refresh(state, from: row) } else { state.vanish() }
      }
    } catch {
      deferredError = deferredError ?? error
    }
  }

  /// Throws an error that occurred in code that cannot throw.
  func throwDeferredError() throws {
    try coordinator.checkOpen()
    guard let error = deferredError else { return }
    deferredError = nil
    throw error
  }
}

extension _ModelState {
  /// Whether another store has the model's row. (One whose row an upsert has given to another object is in none.)
  func isElsewhere(than connection: StoreConnection) -> Bool {
    self.connection.map { $0 !== connection } ?? false
  }
}

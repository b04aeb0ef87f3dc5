import Foundation
import RowFormat

/// The objects an app works with, and the changes it has made to them since the last save.
///
/// A context hands out one object for each row, keeps track of what is inserted, changed and deleted, and
/// writes all of it in one ``save()`` that happens altogether or not at all.
///
/// Invariants:
/// - An object is in at most one context, and a row has at most one object in a context.
/// - Objects with unsaved changes are held strongly; others live as long as the app holds them.
/// - What a failed save could not write stays pending.
///
/// A context belongs to one thread, actor or queue at a time.
public class ModelContext: Equatable, SendableMetatype {
  let coordinator: StoreCoordinator
  private weak var knownContainer: ModelContainer?

  /// The container the context was made from.
  public var container: ModelContainer {
    if let knownContainer { return knownContainer }
    let container = ModelContainer(coordinator)
    knownContainer = container
    return container
  }

  /// The context's session, as its stores see it.
  public var editingState: EditingState

  /// Who makes the changes of this context; written into the history.
  public var author: String? {
    get { editingState.author }
    set { editingState.author = newValue }
  }

  /// The registered objects, by store.
  let maps: [IdentityMap]
  var inserted: [any PersistentModel] = [] {
    didSet { unsaved.insertedCountChanges(to: inserted.count) }
  }
  var changed: [any PersistentModel] = [] {
    didSet { unsaved.changedCountChanges(to: changed.count) }
  }
  var deleted: [any PersistentModel] = [] {
    didSet { unsaved.deletedCountChanges(to: deleted.count) }
  }
  /// The same objects as fetches want them.
  let unsaved = UnsavedModels()
  /// Objects that wait to be inserted while another is: graphs are walked without recursion.
  var insertionQueue: [any PersistentModel] = []
  var isInserting = false
  /// What is known of the class of the object inserted last.
  @exclusivity(unchecked) unowned(unsafe) var lastInserted: ModelDescriptor?
  var recentLists = RecentLists()
  var undo = ContextUndo()
  /// How many transactions run inside each other.
  var transactionDepth = 0
  /// What other contexts saved and this one has not seen yet, if it wants to.
  var inbox: SaveInbox?
  /// Whether the context is to take over what others save, observed or not.
  var mergesChanges = false
  /// Who follows the changes of this context, if anybody does.
  var observers: ContextObservers?
  /// Who is called when something comes into the inbox.
  lazy var saveBell = SaveBell()
  /// The models that the last fetch which prefetched found at the other ends of relationships.
  var prefetched: [any PersistentModel] = []
  /// Whose the context is, and who is using it: looked at by ``ConcurrencyCheck`` only.
  var owner = ContextOwner.nobody
  let use = ContextUse()
  var autosave = Autosave()
  /// What went wrong where nothing could be thrown; the next save or fetch throws it.
  var deferredError: (any Error)?

  public init(_ container: ModelContainer) {
    coordinator = container.coordinator
    knownContainer = container
    editingState = EditingState()
    maps = coordinator.connections.map(IdentityMap.init)
    for connection in coordinator.connections { connection.begin(editingState) }
  }

  deinit {
    if let inbox { coordinator.inboxes.remove(inbox) }
    for connection in coordinator.connections { connection.end(editingState) }
    // First cut every object off, then let relationships go: releasing one may free objects, and a
    // freed object must find no context to take its leave of.
    let states = maps.flatMap(\.states)
    for list in [inserted, changed, deleted] {
      for model in list {
        model._$state.keepIdentifier()
        model._$state.context = nil
      }
    }
    for state in states {
      state.keepIdentifier()
      state.context = nil
    }
    let held = states.compactMap(\.model)
    for model in held { model._$state.dropRelations() }
    for model in inserted { model._$state.dropRelations() }
  }

  public static func == (lhs: ModelContext, rhs: ModelContext) -> Bool { lhs === rhs }

  /// Whether anything is inserted, changed or deleted since the last save.
  public var hasChanges: Bool {
    !deleted.isEmpty || inserted.contains { !$0._$state.isDeleted }
      || changed.contains { !$0._$state.isDeleted }
  }

  /// The objects that the next save will add.
  public var insertedModelsArray: [any PersistentModel] {
    inserted.filter { !$0._$state.isDeleted }
  }

  /// The objects that the next save will update.
  public var changedModelsArray: [any PersistentModel] {
    changed.filter { !$0._$state.isDeleted }
  }

  /// The objects that the next save will delete.
  public var deletedModelsArray: [any PersistentModel] { deleted }
}

@available(*, unavailable, message: "contexts cannot be shared across concurrency contexts")
extension ModelContext: @unchecked Sendable {}

// MARK: What states tell their context

extension ModelContext {
  /// Puts an object on the list of changed ones.
  ///
  /// - Parameters:
  ///   - state: The object's state.
  ///   - property: The first property that is about to change; `nil` if only its place in a list is.
  func noteChange(of state: _ModelState, property: Int?) {
    checked("changing a model") {
      guard let model = state.model, !state.flags.contains(.listed) else { return }
      state.flags.insert(.listed)
      changed.append(model)
      letGo(of: state)
      noteUnsavedChange()
      guard let observers else { return }
      // Its setters say themselves when they are called again.
      state.isObserved = true
      if let property { observers.propertyChanges(property, of: model) }
    }
  }

  /// Lets an object without unsaved changes keep the context.
  ///
  /// Not where an undo manager is: it keeps objects, and the context keeps it.
  func beKept(by state: _ModelState) {
    state.contextKeeper = undo.manager == nil ? self : nil
  }

  /// Stops an object from keeping the context, because from now on the context keeps the object.
  func letGo(of state: _ModelState) {
    // Whoever called may have nothing but the object's reference to hold on to.
    withExtendedLifetime(self) { state.contextKeeper = nil }
  }

  /// Takes leave of an object that is going away.
  func forget(_ state: _ModelState) {
    if state.flags.contains(.keepsLists) { recentLists.forget(state) }
    guard let connection = state.connection, state.reference != .none else { return }
    maps[connection.index].remove(state, at: state.reference)
  }

  /// Fetches the row of an object that has none in memory.
  func loadRow(of state: _ModelState) {
    checked("reading a model") {
      guard let connection = state.connection else { return }
      do {
        if let row = try connection.rows(at: [state.reference], for: editingState).first ?? nil {
          state.setRow(row)
        } else {
          state.flags.insert(.vanished)
        }
      } catch {
        deferredError = deferredError ?? error
      }
    }
  }

  /// Fetches in one request the rows of those objects that have none in memory.
  func loadRows(of states: [_ModelState], from connection: StoreConnection) {
    let missing = states.filter { state in
      state.row == nil && state.flags.contains(.stored) && !state.flags.contains(.vanished)
    }
    if missing.isEmpty { return }
    do {
      let rows = try connection.rows(at: missing.map(\.reference), for: editingState)
      for (state, row) in zip(missing, rows) {
        if let row { state.setRow(row) } else { state.flags.insert(.vanished) }
      }
    } catch {
      deferredError = deferredError ?? error
    }
  }

  /// Throws what went wrong where nothing could be thrown.
  func throwDeferredError() throws {
    guard let error = deferredError else { return }
    deferredError = nil
    throw error
  }
}

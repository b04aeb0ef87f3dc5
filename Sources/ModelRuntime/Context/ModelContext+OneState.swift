import SchedulePoints
import Synchronization

// What an observer shows is of one state of the store: its results, their order and sections, and the values of the models
// that they are shown with. So the state is held while others save on, the saves that it has are taken over, and the fetch
// is answered by it. A question beside unsaved models, and a list, hold the state of their store alone.

extension ModelContext {
  /// Runs a closure that reads one state, after the context's objects have been brought to it.
  ///
  /// Reads within another such closure are of its state.
  ///
  /// - Parameter body: Receives whether it reads one state: some stores read only what is newest.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`, or of a store that cannot be read.
  func readingOneState<R>(_ body: (_ isOneState: Bool) throws -> R) throws -> R {
    if holdsState { return try body(true) }
    // What has arrived by now is part of any state that is held from now on.
    _ = inbox?.hasArrivals()
    guard canHoldState else {
      if isAhead { mergeVisibleSaves() }
      isAhead = false
      return try body(false)
    }
    return try holdingStates(of: coordinator.connections[...]) {
      holdsState = true
      defer { holdsState = false }
      if inbox?.hasSaves == true, !PlantedFault.unmergedSave.isPlanted { merge([]) }
      isAhead = false
      return try body(true)
    }
  }

  private func holdingStates<R>(
    of connections: ArraySlice<StoreConnection>,
    _ body: () throws -> R
  ) throws -> R {
    guard let first = connections.first else { return try body() }
    return try holdingState(of: first) {
      try holdingStates(of: connections.dropFirst(), body)
    }
  }

  /// Whether all stores can be read as of one state, and a merge reads the rows that it takes over.
  private var canHoldState: Bool {
    !remembersReads && !coordinator.isOfThePast
      && coordinator.connections.allSatisfy { $0.store.readsStates && !$0.loadsSiblings }
  }

  /// Runs a closure that reads one state of a store, without bringing the context's objects to it.
  ///
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`, or of a store that cannot be read.
  func holdingState<R>(of connection: StoreConnection, _ body: () throws -> R) throws -> R {
    coordinator.heldStateCount.add(1, ordering: .relaxed)
    defer { coordinator.heldStateCount.subtract(1, ordering: .relaxed) }
    return try connection.store.readingOneState(for: editingState, body)
  }

  /// Runs a save, which reads the newest state: a callback of the app may save while the context holds an earlier one.
  func lettingStateGo<R>(_ save: () throws -> R) rethrows -> R {
    if coordinator.heldStateCount.load(ordering: .relaxed) == 0 { return try save() }
    let held = holdsState
    holdsState = false
    defer { holdsState = held }
    guard let store = coordinator.connections.first(where: { $0.store.readsStates })?.store else {
      return try save()
    }
    return try store.readingNewestState(save)
  }

  /// Records that an object has taken over values, or has found its row gone, apart from a merge: other objects may be of an
  /// earlier state.
  func getAhead() {
    if inbox != nil, !holdsState { isAhead = true }
  }
}

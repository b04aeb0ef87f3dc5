import Synchronization

// The saves of other processes reach contexts as those of other contexts do: through their inboxes.
extension StoreCoordinator {
  /// Delivers future saves of other contexts and processes to an inbox.
  func add(_ inbox: SaveInbox) {
    inboxes.add(inbox)
    remoteSaves.begin { connections.compactMap(observe) }
  }

  /// Stops deliveries to an inbox.
  func remove(_ inbox: SaveInbox) {
    inboxes.remove(inbox)
    remoteSaves.end()
  }

  private func observe(_ connection: StoreConnection) -> RemoteSaves.Observation? {
    guard let store = connection.store.openStore as? any RemoteRowReporting else { return nil }
    let index = connection.index
    let watch = store.observeRemoteRows { [inboxes, notice = changeNotices[index]] rows in
      notice.postSoon()
      return inboxes.note([SavedRows(rows, in: index)], from: nil)
    }
    return watch.map { RemoteSaves.Observation(store: store, watch: $0) }
  }
}

/// The observation of saves by other processes, for as long as a context has an inbox.
final class RemoteSaves: Sendable {
  struct Observation: Sendable {
    let store: any RemoteRowReporting
    let watch: any AnyObject & Sendable
  }

  private struct State {
    var inboxCount = 0
    var observations: [Observation] = []
  }

  private let state = Mutex(State())

  fileprivate func begin(_ observe: () -> [Observation]) {
    state.withLock { state in
      state.inboxCount += 1
      if state.inboxCount == 1 { state.observations = observe() }
    }
  }

  fileprivate func end() {
    let former = state.withLock { state in
      state.inboxCount -= 1
      precondition(state.inboxCount >= 0, "\(state.inboxCount) inboxes")
      if state.inboxCount > 0 { return [Observation]() }
      defer { state.observations = [] }
      return state.observations
    }
    // Released outside the lock: a watch that ends waits for others' locks.
    withExtendedLifetime(former) {}
  }

  /// Brings all saves made by other processes so far to the inboxes.
  func look() {
    for observation in state.withLock({ $0.observations }) {
      observation.store.lookForRemoteSaves()
    }
  }
}

extension SavedRows {
  init(_ rows: ChangedRows, in index: Int) {
    self.init(
      connectionIndex: index,
      inserted: rows.inserted,
      updated: rows.updated,
      deleted: rows.deleted,
      isComplete: rows.isComplete,
      commit: rows.commit
    )
  }
}

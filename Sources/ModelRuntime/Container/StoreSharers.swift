import Synchronization

/// The containers of this process that have one store open.
///
/// The contexts of each hear of the others' saves as of those of their siblings.
final class StoreSharers: Sendable {
  private struct Sharer {
    let id: ObjectIdentifier
    weak var coordinator: StoreCoordinator?
    /// The index of the store's connection there.
    let index: Int
  }

  private let sharers = Mutex<[Sharer]>([])
  /// Number of containers: mostly there is one, and a save takes no lock.
  private let count = Atomic<Int>(0)

  func add(_ coordinator: StoreCoordinator, as index: Int) {
    sharers.withLock { sharers in
      sharers.append(
        Sharer(id: ObjectIdentifier(coordinator), coordinator: coordinator, index: index)
      )
      count.store(sharers.count, ordering: .releasing)
    }
  }

  /// Removes a container that is closed, or released.
  func remove(_ coordinator: StoreCoordinator) {
    let id = ObjectIdentifier(coordinator)
    sharers.withLock { sharers in
      sharers.removeAll { $0.id == id }
      count.store(sharers.count, ordering: .releasing)
    }
  }

  /// The other containers, and the index that the store has in each.
  func others(than own: StoreCoordinator) -> [(coordinator: StoreCoordinator, index: Int)] {
    if count.load(ordering: .acquiring) < 2 { return [] }
    return sharers.withLock { sharers in
      sharers.compactMap { sharer in
        guard let coordinator = sharer.coordinator, coordinator !== own else { return nil }
        return (coordinator, sharer.index)
      }
    }
  }
}

extension StoreSharers {
  /// The containers that have a store open; `nil` for a store that belongs to one.
  static func sharers(of connection: StoreConnection) -> StoreSharers? {
    (connection.store.openStore as? any SharedStore)?.common { StoreSharers() } as? StoreSharers
  }
}

extension StoreCoordinator {
  /// Makes this container one that hears of saves through other ones, and tells them of its own.
  func joinSharers() {
    for (index, sharers) in sharers.enumerated() { sharers?.add(self, as: index) }
  }

  func leaveSharers() {
    for sharers in sharers { sharers?.remove(self) }
  }

  /// The other containers of this process that have a store open, and the index that it has in each.
  func others(
    sharing connection: StoreConnection
  ) -> [(coordinator: StoreCoordinator, index: Int)] {
    sharers.isEmpty ? [] : sharers[connection.index]?.others(than: self) ?? []
  }

  /// Makes the announcement of a commit to all contexts that have the store but the one that saves; `nil` if there are none.
  func announcement(
    of connection: StoreConnection,
    from sender: SaveInbox?
  ) -> CommitAnnouncement? {
    let others = others(sharing: connection)
    var targets: [CommitAnnouncement.Target] = []
    if !others.isEmpty || inboxes.hasOthers(than: sender) {
      targets.append(.init(inboxes: inboxes, sender: sender, connectionIndex: connection.index))
    }
    for other in others {
      targets.append(
        .init(inboxes: other.coordinator.inboxes, sender: nil, connectionIndex: other.index)
      )
    }
    return targets.isEmpty ? nil : CommitAnnouncement(to: targets)
  }

  /// Tells the listeners of the other containers that have a store of a save, and the program that the store has changed.
  ///
  /// - Parameters:
  ///   - connection: The store.
  ///   - body: Tells the listeners of one container.
  func tellOthers(of connection: StoreConnection, _ body: (SaveListeners) -> Void) {
    for other in others(sharing: connection) { body(other.coordinator.saveListeners) }
    changeNotices[connection.index].postSoon()
  }

  /// Notifies all contexts that have the store but the one that saved.
  ///
  /// - Parameters:
  ///   - rows: The saved rows.
  ///   - connection: The store.
  ///   - sender: The context that saved.
  ///   - announcement: The announcement that the store was given.
  func post(
    _ rows: @autoclosure () -> SavedRows,
    of connection: StoreConnection,
    from sender: SaveInbox?,
    _ announcement: CommitAnnouncement?
  ) {
    if let notices = announcement?.confirm() {
      for notice in notices { notice() }
      return
    }
    inboxes.post([rows()], from: sender)
    for other in others(sharing: connection) {
      other.coordinator.inboxes.post([rows().asPart(ofStoreAt: other.index)], from: nil)
    }
  }
}

extension SavedRows {
  /// The same rows as another container has them.
  fileprivate func asPart(ofStoreAt index: Int) -> SavedRows {
    var rows = self
    rows.connectionIndex = index
    return rows
  }
}

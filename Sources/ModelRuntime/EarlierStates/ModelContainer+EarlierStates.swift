public import Foundation

extension ModelContainer {
  /// The models as they were behind a transaction.
  ///
  ///     let before = try container.asOf(token)
  ///     let then = try ModelContext(before).fetchCount(FetchDescriptor<Trip>())
  ///
  /// What is returned has the same models under the same identifiers, read in the schema of today, and nothing can be saved
  /// to it. Its contexts show one state whatever is saved meanwhile; it keeps the stores of this container open, and their
  /// compaction from what the state needs. So let go of it in time.
  ///
  /// - Parameter token: The token of a transaction, or one that was kept. A store that the token does not know is read as it
  ///   was before its first transaction.
  /// - Returns: A container of what was.
  /// - Throws: ``SwiftDataError/historyTokenExpired`` if the history no longer goes back that far, or the token is of a later
  ///   state than the store has; ``DataStoreError/unsupportedFeature`` if a store cannot be read as it was: those over a log
  ///   can, in memory, too.
  /// - Complexity: O(bytes of the history up to there). An index is made anew, in memory, when it is first used.
  public func asOf(_ token: DefaultHistoryToken) throws -> ModelContainer {
    try coordinator.checkIsKnown(token)
    return ModelContainer(try StoreCoordinator(coordinator, asOf: .token(token)))
  }

  /// The models as they were at a time.
  ///
  ///     let pinned = try container.asOf(.now)
  ///
  /// Each store is read as the last transaction left it that had been made then, by the clocks of the processes that saved.
  ///
  /// - Parameter date: The time; one that is yet to come means now.
  /// - Returns: A container of what was; see ``asOf(_:)-(DefaultHistoryToken)``.
  /// - Throws: As with a token.
  /// - Complexity: As with a token, and O(bytes saved since).
  public func asOf(_ date: Date) throws -> ModelContainer {
    ModelContainer(try StoreCoordinator(coordinator, asOf: .date(date)))
  }
}

extension ModelContext {
  /// Makes a context that shows the models as they were behind a transaction; nothing can be saved with it.
  ///
  /// - Parameters:
  ///   - container: The models of today.
  ///   - token: The transaction; see ``ModelContainer/asOf(_:)-(DefaultHistoryToken)``.
  /// - Throws: As ``ModelContainer/asOf(_:)-(DefaultHistoryToken)``.
  public convenience init(_ container: ModelContainer, asOf token: DefaultHistoryToken) throws {
    self.init(try container.asOf(token))
  }

  /// Makes a context that shows the models as they were at a time; nothing can be saved with it.
  ///
  /// - Parameters:
  ///   - container: The models of today.
  ///   - date: The time; `.now` pins what is there now.
  /// - Throws: As ``ModelContainer/asOf(_:)-(DefaultHistoryToken)``.
  public convenience init(_ container: ModelContainer, asOf date: Date) throws {
    self.init(try container.asOf(date))
  }

  /// Has a context that shows an earlier state show another one, earlier or later.
  ///
  /// The context's objects stay, and read their new values when they are asked; observers of them are told. Other contexts
  /// of the same container move along, and those that do not merge changes keep the values that they have read.
  ///
  /// - Parameter token: The state to show.
  /// - Throws: As ``ModelContainer/asOf(_:)-(DefaultHistoryToken)``; then the context shows what it showed.
  ///   ``DataStoreError/unsupportedFeature`` for a context that shows what is newest.
  public func show(asOf token: DefaultHistoryToken) throws {
    try coordinator.checkIsKnown(token)
    try show(.token(token))
  }

  /// Has a context that shows an earlier state show that of another time.
  ///
  /// - Parameter date: The time; `.now` moves on to what is newest now.
  /// - Throws: As with a token.
  public func show(asOf date: Date) throws { try show(.date(date)) }

  private func show(_ moment: StoreMoment) throws {
    try checked("show(asOf:)") {
      guard coordinator.isOfThePast else { throw DataStoreError.unsupportedFeature }
      let moves = try coordinator.connections.map {
        try ($0.store.openStore as? any EarlierStateReading)?.prepareToShow(moment)
      }
      for move in moves { move?() }
      let everything = coordinator.connections.map(SavedRows.init(anyOf:))
      merge(everything)
      coordinator.inboxes.post(everything, from: inbox)
    }
  }
}

extension StoreCoordinator {
  /// - Throws: ``SwiftDataError/historyTokenExpired`` if a token is of other stores.
  func checkIsKnown(_ token: DefaultHistoryToken) throws {
    if connections.contains(where: { token.counter(of: $0.identifier) != nil }) { return }
    throw SwiftDataError.historyTokenExpired.explained(
      "the token is of other stores (\(token.tokenValue?.keys.sorted().joined(separator: ", ") ?? "")): take it from "
        + "the history of this container"
    )
  }

  /// The stores of another coordinator as they were.
  fileprivate convenience init(_ present: StoreCoordinator, asOf moment: StoreMoment) throws {
    try present.checkOpen()
    let stores = try present.connections.map { connection in
      guard let store = connection.store.openStore as? any EarlierStateReading else {
        throw DataStoreError.unsupportedFeature
      }
      return try store.store(asOf: moment)
    }
    try self.init(past: stores, of: present)
  }
}

extension SavedRows {
  /// What says that any row of a store may have changed.
  fileprivate init(anyOf connection: StoreConnection) {
    self.init(connectionIndex: connection.index)
    isComplete = false
  }
}

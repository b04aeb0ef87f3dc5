import RowFormat

/// The rows of a store as its transactions left them, one state after the other.
final class FormerRows {
  private let container: ModelContainer
  private let store: any EarlierStateReading
  private let index: Int

  /// - Parameters:
  ///   - connection: The store.
  ///   - present: The stores of the container.
  ///   - first: The earliest state that will be asked for, by the number of the transaction behind which it is.
  /// - Throws: ``SwiftDataError/historyTokenExpired`` if the store no longer knows the state;
  ///   ``DataStoreError/unsupportedFeature`` if it knows none.
  init(of connection: StoreConnection, _ present: StoreCoordinator, from first: Int64) throws {
    guard let source = connection.store.openStore as? any EarlierStateReading else {
      throw DataStoreError.unsupportedFeature
    }
    let token = DefaultHistoryToken(HistoryStoreName(connection.identifier), first)
    guard let store = try source.store(asOf: .token(token)) as? any EarlierStateReading else {
      throw DataStoreError.unsupportedFeature
    }
    self.store = store
    index = connection.index
    // The others are in their places, and are asked nothing.
    let stores = present.connections.map { $0 === connection ? store : $0.store.openStore }
    container = ModelContainer(try StoreCoordinator(past: stores, of: present))
  }

  /// Calls a closure with a context that shows the rows of a state; how many there are it does not know.
  ///
  /// - Parameters:
  ///   - number: The transaction behind which the state is.
  ///   - body: Receives the context, and its line to the store; it must not keep either.
  /// - Throws: As the store, or `body`.
  /// - Complexity: O(1).
  func read(behind number: Int64, _ body: (ModelContext, StoreConnection) throws -> Void) throws {
    try store.showRows(behind: number)
    let context = ModelContext(container)
    try withExtendedLifetime(context) {
      try body(context, container.coordinator.connections[index])
    }
  }
}

/// A store whose saves, of one thread, can go before those of others.
package protocol PrecedenceTaking: AnyObject {
  /// Makes the saves of other threads wait for those of the calling one, for some seconds at most.
  func takePrecedence()
  /// Reverts one ``takePrecedence()``, on the same thread.
  func endPrecedence()
}

/// The attempts of a save whose rows others change while it computes or encodes them.
///
/// After a few of them it goes before other saves: it could lose to smaller ones for ever.
package struct Attempts {
  private static let limit = 3
  private let store: any DataStore
  private var count = 1
  /// The store, once it was told to let the save go first.
  private var yielding: (any PrecedenceTaking)?

  package init(in store: any DataStore) { self.store = store }

  init(in connection: StoreConnection) { self.init(in: connection.store.openStore) }

  /// Begins another attempt.
  package mutating func next() {
    count += 1
    guard count == Self.limit else { return }
    yielding = store as? any PrecedenceTaking
    yielding?.takePrecedence()
  }

  /// Ends the last attempt, on the thread that made them.
  package func end() { yielding?.endPrecedence() }
}

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
struct Attempts {
  private static let limit = 3
  private let connection: StoreConnection
  private var count = 1
  /// The store, once it was told to let the save go first.
  private var store: (any PrecedenceTaking)?

  init(in connection: StoreConnection) { self.connection = connection }

  /// Begins another attempt.
  mutating func next() {
    count += 1
    guard count == Self.limit else { return }
    store = connection.store.openStore as? any PrecedenceTaking
    store?.takePrecedence()
  }

  /// Ends the last attempt, on the thread that made them.
  func end() { store?.endPrecedence() }
}

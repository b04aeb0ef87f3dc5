/// A store whose saves, of one thread, can go before those of others.
package protocol PrecedenceTaking: AnyObject {
  /// Makes the saves of other threads wait for those of the calling one, for some seconds at most.
  func takePrecedence()
  /// Reverts one ``takePrecedence()``, on the same thread.
  func endPrecedence()
  /// Waits until reads see the saves of other threads that are being written.
  ///
  /// A save that lost to one of them would otherwise read the values it knows already, and lose again until then.
  func awaitSaves()
}

/// The attempts of a save whose rows others change while it computes or encodes them.
///
/// After a few of them it goes before other saves: it could lose to smaller ones for ever.
package struct Attempts {
  private static let limit = 3
  private let store: any DataStore
  private var count = 1
  /// The store, once the save had to be attempted again: few have to.
  private var sharedStore: (any PrecedenceTaking)?

  package init(in store: any DataStore) { self.store = store }

  init(in connection: StoreConnection) { self.init(in: connection.store.openStore) }

  /// Begins another attempt, which sees what the last one lost to.
  package mutating func next() {
    if count == 1 { sharedStore = store as? any PrecedenceTaking }
    count += 1
    if count == Self.limit { sharedStore?.takePrecedence() }
    sharedStore?.awaitSaves()
  }

  /// Ends the last attempt, on the thread that made them.
  package func end() {
    if count >= Self.limit { sharedStore?.endPrecedence() }
  }
}

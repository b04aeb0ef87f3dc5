/// A store that wraps a store of another kind, opened by a configuration of its own: a container that is asked for the other
/// kind finds it.
package protocol UnderlyingStoreProviding: DataStore {
  /// The same open store, as the other kind.
  var underlyingStore: any DataStore { get }
}

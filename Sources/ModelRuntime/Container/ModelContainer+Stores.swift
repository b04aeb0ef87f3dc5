extension ModelContainer {
  /// The container's open stores of a kind, in the order of their configurations.
  ///
  ///     try container.stores(of: LogStore.self).first?.compact()
  ///
  /// For what a store can do beyond ``DataStore``. Models are saved and fetched through contexts: they do
  /// not know of what is changed behind their back. The store of a ``ModelConfiguration``, or of no configuration at all,
  /// is a `LogStore`, too.
  public func stores<Store: DataStore>(of kind: Store.Type) -> [Store] {
    coordinator.connections.compactMap { connection in
      let store = connection.store.openStore
      return store as? Store ?? (store as? any UnderlyingStoreProviding)?.underlyingStore as? Store
    }
  }
}

extension ModelContainer {
  /// The container's open stores of a kind, in the order of their configurations.
  ///
  ///     try container.stores(of: LogStore.self).first?.compact()
  ///
  /// For features of a store beyond ``DataStore``. Models are saved and fetched through contexts, which do
  /// not notice changes made around them. The store of a ``ModelConfiguration``, or of no configuration at all,
  /// is a `LogStore`, too.
  public func stores<Store: DataStore>(of kind: Store.Type) -> [Store] {
    coordinator.connections.compactMap { connection in
      let store = connection.store.openStore
      return store as? Store ?? (store as? any UnderlyingStoreProviding)?.underlyingStore as? Store
    }
  }
}

extension ModelContainer {
  /// The container's open stores of a kind, in the order of their configurations.
  ///
  ///     try container.stores(of: LogStore.self).first?.compact()
  ///
  /// For what a store can do beyond ``DataStore``. Models are saved and fetched through contexts: they do
  /// not know of what is changed behind their back.
  public func stores<Store: DataStore>(of kind: Store.Type) -> [Store] {
    coordinator.connections.compactMap { ($0.store.openStore as Any) as? Store }
  }
}

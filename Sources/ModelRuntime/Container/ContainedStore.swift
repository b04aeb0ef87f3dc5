/// A store that changes models by itself, as a context of its container does, so that contexts and observers are notified.
package protocol ContainedStore: DataStore {
  /// Called once, when all stores of the container are open.
  ///
  /// - Parameter container: Returns the container, or `nil` once it and its contexts are gone. The store must not keep
  ///   the result: container and stores would live for ever.
  func didOpen(in container: @escaping @Sendable () -> ModelContainer?)
}

extension StorageEngine {
  /// Hands an event of a layer above to the receivers of the store's events, in order with those of the engine.
  ///
  /// Must be called without locks: the handler may run in this call.
  package func report(_ event: EngineEvent) {
    state.events.report(event)
    state.events.deliver()
  }
}

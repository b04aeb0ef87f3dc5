extension StorageEngine {
  /// Delivers an event of a higher layer to the receivers of the store's events, in order with those of the engine.
  ///
  /// Must be called without locks: the handler may run in this call.
  package func report(_ event: EngineEvent) {
    state.events.report(event)
    state.events.deliver()
  }
}

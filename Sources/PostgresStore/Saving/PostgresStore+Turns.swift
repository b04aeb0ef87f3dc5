#if PostgreSQL
import ModelRuntime

// Both ends of a relationship are read, corrected and written. Of two machines that do so at once, the second waits until
// the first has written. Saves that write no such ends do not come here, and run side by side.

extension PostgresStore: TurnTakingStore {
  /// Waits until no other thread, process or machine reads and writes both ends of relationships in this store.
  ///
  /// The save of this thread until ``endTurn()`` is a part of the turn.
  ///
  /// - Throws: ``PostgresStoreError``.
  package func beginTurn() throws {
    try checkOpen()
    // A migration has the turn until it ends.
    if migration != nil { return }
    try turns.begin {
      try Turn(pool, store: identifier, idleLimit: configuration.idleLimit)
    }
  }

  /// As long as sessions that are lost otherwise: until the budget is spent.
  package func makeTurnPatience() -> () -> Bool {
    var backoff = pool.makeBackoff()
    return { backoff.wait() }
  }

  package func endTurn() { if migration == nil { turns.end() } }
}
#endif

/// A store that other processes may write to, in turns.
///
/// A context takes a turn from reading what is stored at both ends of a relationship until it has written them.
package protocol TurnTakingStore {
  /// Waits until no other process writes to the store, and none can until the turn ends; may be called again meanwhile.
  ///
  /// Other threads of this process may write. Where no other process may write, it does nothing.
  ///
  /// - Throws: What reading the changes of other processes throws; then there is no turn.
  func beginTurn() throws

  /// Ends what one ``beginTurn()`` began, on the same thread.
  func endTurn()
}

/// A store that other processes may write to, in turns.
///
/// A context takes a turn from reading what is stored at both ends of a relationship until it has written them.
package protocol TurnTakingStore {
  /// Waits until no other process writes both ends of relationships, and none can until the turn ends; may be called again
  /// meanwhile.
  ///
  /// Other threads of this process may write. Where no other process may write, it does nothing. A store that can lose
  /// a turn, because a server took it back, answers the save with ``LostTurn``.
  ///
  /// - Throws: What reading the changes of other processes throws; then there is no turn.
  func beginTurn() throws

  /// How long a context goes on with other turns in place of lost ones.
  ///
  /// - Returns: What is asked after each lost turn of one save: it may wait a moment, and returns `false` for the save to
  ///   give up. By default that is after sixteen turns.
  func makeTurnPatience() -> () -> Bool

  /// Ends what one ``beginTurn()`` began, on the same thread, and waits until what was saved meanwhile is as safe as the
  /// store promises.
  ///
  /// - Throws: What keeps it from being safe; the turn has ended all the same.
  func endTurn() throws
}

extension TurnTakingStore {
  package func makeTurnPatience() -> () -> Bool {
    var count = 0
    return {
      count += 1
      return count <= 16
    }
  }
}

/// A store that other processes may write to, in turns.
///
/// A context's turn lasts from reading both stored ends of a relationship until it has written them.
package protocol TurnTakingStore {
  /// Waits until no other process writes both ends of relationships, and none can until the turn ends; calls may be
  /// nested.
  ///
  /// Other threads of this process may write. If no other process may write, it does nothing. A store that can lose
  /// a turn, because a server revoked it, answers the save with ``LostTurn``.
  ///
  /// - Throws: An error of reading the changes of other processes; then there is no turn.
  func beginTurn() throws

  /// Makes the limit on further turns of a context after lost ones.
  ///
  /// - Returns: A closure to call after each lost turn of one save: it may wait a moment, and returns `false` to make the save
  ///   give up. By default it does so after sixteen turns.
  func makeTurnPatience() -> () -> Bool

  /// Ends one ``beginTurn()``, on the same thread, and waits until the changes saved meanwhile are as safe as the
  /// store promises.
  ///
  /// - Throws: An error that keeps them from being safe; the turn has ended all the same.
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

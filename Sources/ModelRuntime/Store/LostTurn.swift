/// A store's answer to a save in a turn that ended before the save: nothing was written.
///
/// Others may have written both ends of relationships since they were read here. The context takes another turn, reads
/// again and saves again, for as long as the store allows (``TurnTakingStore/makeTurnPatience()``).
package struct LostTurn: Error {
  /// The error that ended the turn, thrown when the context gives up.
  package let cause: any Error

  package init(_ cause: any Error) { self.cause = cause }
}

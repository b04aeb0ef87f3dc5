import Synchronization

/// The claim in a store that a save keeps from one attempt to the next.
///
/// A store that refuses a save with ``DanglingReferences`` may prevent new references to the rows that the save deletes,
/// so that one attempt is not preceded by another save. The save ends the claim, whatever its outcome.
package final class KeptClaim: Sendable {
  private let end = Mutex<(@Sendable () -> Void)?>(nil)

  package init() {}

  /// Records a claim of the store.
  ///
  /// - Parameter end: Ends the claim.
  package func keep(_ end: @escaping @Sendable () -> Void) {
    self.end.withLock { $0 = end }
  }

  /// Ends the claim, if there is one.
  package func release() { end.withLock { $0.take() }?() }
}

import Synchronization

/// What a save goes on claiming in a store from one attempt to the next.
///
/// A store that refuses a save with ``DanglingReferences`` may keep the rows that the save deletes from being referred to,
/// so that there is an attempt that no other save comes before. The save ends that, whatever becomes of it.
package final class KeptClaim: Sendable {
  private let end = Mutex<(@Sendable () -> Void)?>(nil)

  package init() {}

  /// Takes in that the store keeps something.
  ///
  /// - Parameter end: Ends that.
  package func keep(_ end: @escaping @Sendable () -> Void) {
    self.end.withLock { $0 = end }
  }

  /// Has the store keep nothing any more.
  package func release() { end.withLock { $0.take() }?() }
}

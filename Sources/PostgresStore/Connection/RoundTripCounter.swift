#if PostgreSQL
import Synchronization

/// Counts how often a store waited for its server.
final class RoundTripCounter: Sendable {
  private let made = Atomic<Int>(0)

  var value: Int { made.load(ordering: .relaxed) }

  func count() { made.add(1, ordering: .relaxed) }
}
#endif

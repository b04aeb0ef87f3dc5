#if PostgreSQL
import Foundation

/// Tells other stores on the same tables that something was saved: after the save, and a few times a second at most.
///
/// Never within the save: a transaction that notifies takes a lock on the whole database when it commits.
final class SaveBell: @unchecked Sendable {
  private let pool: ConnectionPool
  private let ring: Statement
  private let queue = DispatchQueue(label: "logstore.postgres.bell", qos: .utility)
  /// The shortest time between two rings: 50 a second.
  private let interval = 0.02
  private let lock = NSLock()
  // Guarded by the lock.
  private var isDue = false
  private var lastRing = DispatchTime(uptimeNanoseconds: 0)

  /// - Parameters:
  ///   - channel: The channel that other stores listen to.
  ///   - pool: The store's sessions.
  init(channel: String, _ pool: ConnectionPool) {
    self.pool = pool
    ring = Statement("SELECT pg_notify($1, '')") { $0.append(channel) }
  }

  /// Rings the bell soon, and at most once per interval.
  func scheduleRing() {
    let time = lock.withLock { () -> DispatchTime? in
      if isDue { return nil }
      isDue = true
      return max(.now(), lastRing + interval)
    }
    guard let time else { return }
    queue.asyncAfter(deadline: time) { [self] in
      lock.withLock {
        isDue = false
        lastRing = .now()
      }
      // A listener that misses the notice polls within a second.
      _ = try? pool.withConnection { try $0.runUncounted([ring]) }
    }
  }
}
#endif

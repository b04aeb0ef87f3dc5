#if PostgreSQL
import Foundation

/// Makes partitions of the history ahead, and deletes what is too old, beside the saves of a store.
///
/// All of it is done by one store or another, and nothing waits for it: work that the server refuses, because the session's
/// role does not own the tables for instance, or because a lock could not be had, is tried again later.
final class HistoryKeeper: @unchecked Sendable {
  private let partitions: HistoryPartitions
  private let deletion: HistoryDeletion
  private let age: Duration?
  private let commits: String
  private let pool: ConnectionPool
  private let queue = DispatchQueue(label: "logstore.postgres.history", qos: .utility)
  private let lock = NSLock()
  // Guarded by the lock.
  private var isDue = false
  /// The transaction from which on there may be something to do.
  private var nextTransaction = Int64.max
  /// The newest transaction of this store's saves.
  private var newestTransaction: Int64 = 0
  private var nextDeletion = ContinuousClock.now

  /// Number of transactions between a refused attempt and the next.
  private static let retryDistance: Int64 = 10_000
  /// The interval between two looks for old transactions.
  private static let deletionInterval = Duration.seconds(600)

  /// - Parameters:
  ///   - deletion: Deletes from the store's history.
  ///   - age: The age up to which saves stay in the history; `nil` for no limit.
  ///   - pool: The store's sessions.
  init(_ deletion: HistoryDeletion, age: Duration?, _ pool: ConnectionPool) {
    self.deletion = deletion
    self.age = age
    partitions = deletion.partitions
    commits = "\(partitions.namespace.quotedName)._logstore_commit"
    self.pool = pool
  }

  /// Looks for the first time, soon.
  func begin() { schedule() }

  /// Waits until what is under way is done.
  func settle() { queue.sync {} }

  /// Looks again, if a save of this store has a number so high that it may be necessary.
  func notice(_ transaction: Int64) {
    let isNeeded = lock.withLock {
      newestTransaction = max(newestTransaction, transaction)
      return transaction >= nextTransaction || age != nil && ContinuousClock.now >= nextDeletion
    }
    if isNeeded { schedule() }
  }

  private func schedule() {
    let isFirst = lock.withLock {
      defer { isDue = true }
      return !isDue
    }
    if isFirst { queue.async { [weak self] in self?.run() } }
  }

  private func run() {
    lock.withLock {
      isDue = false
      nextDeletion = ContinuousClock.now + HistoryKeeper.deletionInterval
    }
    let next = try? pool.withConnection(work)
    // If the server could not be asked, because the session was lost for instance, its present number is unknown.
    lock.withLock { nextTransaction = next ?? newestTransaction + HistoryKeeper.retryDistance }
  }

  /// Does what is to be done now.
  ///
  /// - Returns: The transaction from which on there may be something to do again.
  /// - Throws: ``PostgresStoreError`` if the server could not be asked.
  func work(_ connection: Connection) throws -> Int64 {
    // It takes as long as the history is, and no caller waits for it.
    try connection.withoutLimit { try workUnlimited(connection) }
  }

  private func workUnlimited(_ connection: Connection) throws -> Int64 {
    let partition = Result { try partitions.keepAhead(connection) }
    if let age { try? expire(age, connection) }
    try? deletion.removeNames(connection, while: { pool.isOpen })
    // Partitions that were in use when their history was deleted.
    try? partitions.sweep(connection)
    if case .success(let next) = partition { return next }
    let now = Statement("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint")
    return try connection.runUncounted([now])[0].integer(0, 0) + HistoryKeeper.retryDistance
  }

  private func expire(_ age: Duration, _ connection: Connection) throws {
    let old = Statement(
      "SELECT xid FROM \(commits) WHERE at < clock_timestamp() - $1 * interval '1 second' "
        + "AND xid > 0 AND xid < pg_snapshot_xmin(pg_current_snapshot())::text::bigint"
    ) { $0.append(age.seconds) }
    let result = try connection.runUncounted([old])[0]
    let numbers = (0..<result.rowCount).map { result.integer($0, 0) }
    // The next store deletes what is left when this one is closed.
    try deletion.delete(numbers, connection, while: { pool.isOpen })
  }
}
#endif

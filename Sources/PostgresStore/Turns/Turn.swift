#if PostgreSQL
import ModelRuntime

/// The right of one thread to read and write both ends of relationships.
///
/// It is a transaction that holds an advisory lock, in a session beside those of the pool's limit: reads of the thread
/// take another session, and threads that each held the last one would wait for each other. The turn's save is committed
/// by this transaction, so that a thread that has lost the lock cannot save. The commit ends the turn.
final class Turn {
  private let pool: ConnectionPool
  private let connection: Connection
  private let lock: Statement

  /// Comes before the statements of a save that is a part of a turn.
  static let savepoint = Statement("SAVEPOINT save")
  /// Undoes a save that is a part of a turn, and keeps the lock.
  static let undo = Statement("ROLLBACK TO SAVEPOINT save")

  /// Waits for the turn of a store, and keeps it until the transaction ends.
  static func lock(_ identifier: String) -> Statement {
    Statement("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))") {
      $0.append(lockName(identifier))
    }
  }

  /// The text whose hash is the number of the lock.
  static func lockName(_ identifier: String) -> String { "logstore ends \(identifier)" }

  /// Waits for the turn.
  ///
  /// - Parameters:
  ///   - pool: The sessions of the store.
  ///   - identifier: The identifier of the store, which all that share its tables have in common.
  ///   - idleLimit: The server's longest wait for the next statement before it gives the turn to others: a machine that
  ///     vanished, or a process that was stopped, does not keep all others waiting.
  /// - Throws: ``PostgresStoreError``.
  init(_ pool: ConnectionPool, store identifier: String, idleLimit: Duration) throws {
    self.pool = pool
    let lock = Turn.lock(identifier)
    self.lock = lock
    let limit = Statement.limitIdleness(idleLimit)
    connection = try pool.lendBeyondLimit { try $0.run([.begin, limit, lock]) }
  }

  /// Whether the turn was used, or was lost and the session knows it.
  var isSpent: Bool { !connection.isUsable || connection.isIdle }

  /// Gives the turn back; a save that was not committed is undone.
  func end() {
    if !connection.isIdle { connection.rollBack() }
    pool.giveBackBeyondLimit(connection)
  }

  /// Makes a save a part of the turn, and commits it.
  ///
  /// - Parameters:
  ///   - lookUp: Finds the number of the save, if it was committed.
  ///   - save: Writes and commits, from ``savepoint`` on; undone with ``undo`` if it throws.
  /// - Returns: The number of the save.
  /// - Throws: `LostTurn`, after which nothing is written, if others may have had their turn since this one began; or
  ///   what the save throws, after which the turn continues.
  func commit(lookUp: Statement, _ save: (Connection) throws -> Int64) throws -> Int64 {
    if isSpent {
      let reason = "the turn was used by another save, or had ended before this one"
      throw LostTurn(PostgresStoreError.connectionLost(to: connection.place, reason: reason))
    }
    var backoff = pool.makeBackoff()
    while true {
      do {
        return try save(connection)
      } catch let error as PostgresStoreError {
        switch error {
        case .connectionLost where !connection.isUsable:
          if let number = try numberOfCommit(lookUp) { return number }
          throw LostTurn(error)
        case .server(let refusal) where refusal.isTransient:
          // A commit that is refused ends the transaction.
          if isSpent { throw LostTurn(error) }
          guard backoff.wait() else { throw error }
        default: throw error
        }
      }
    }
  }

  /// The number of the save, if it was committed before the session was lost.
  private func numberOfCommit(_ lookUp: Statement) throws -> Int64? {
    // The server may be about to commit it still: its transaction has the lock until it has ended.
    let found = try pool.retrying { try $0.run([.begin, lock, lookUp, .commit])[2] }
    return found.rowCount == 1 ? found.integer(0, 0) : nil
  }
}
#endif

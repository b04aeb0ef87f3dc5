#if PostgreSQL
import Foundation

/// What others than one store have saved, as the history tells it.
///
/// A transaction counts once every older save has ended: what is asked for lies before a ``HistoryHorizon``. So a reader that
/// goes on behind the newest counted one misses none.
struct RemoteSaves: Sendable {
  /// The schema of the tables, quoted.
  let namespace: String
  /// The store whose own saves do not count.
  let source: UUID
  /// Where the history ends.
  let horizon: HistoryHorizon

  /// Asks for the newest transaction that counts; null if there is none.
  func newest(after number: Int64, before horizon: Int64) -> Statement {
    Statement(
      "SELECT max(xid) FROM \(namespace)._logstore_commit "
        + "WHERE xid > $1 AND source IS DISTINCT FROM $2 AND xid < $3"
    ) {
      $0.append(number)
      $0.append(source)
      $0.append(horizon)
    }
  }

  /// Asks for the newest transaction that counts, and for the newest one that has ended; null if there is none.
  func newestAndPending(after number: Int64, before horizon: Int64) -> Statement {
    Statement(
      "SELECT max(xid) FILTER (WHERE xid < $3), max(xid) FROM \(namespace)._logstore_commit "
        + "WHERE xid > $1 AND source IS DISTINCT FROM $2"
    ) {
      $0.append(number)
      $0.append(source)
      $0.append(horizon)
    }
  }

  /// Asks for the rows that were changed, at most so many, and how each was.
  ///
  /// The bound is said of the changes, too, and an order that the index has: a server that knows nothing of the newest rows
  /// yet would otherwise read all changes to join them with a few commits.
  func rows(after number: Int64, before horizon: Int64, limit: Int) -> Statement {
    Statement(
      "SELECT h.row, h.kind FROM \(namespace)._logstore_commit AS c "
        + "JOIN \(namespace)._logstore_change AS h USING (xid) "
        + "WHERE xid > $1 AND h.xid > $1 AND source IS DISTINCT FROM $2 AND xid < $3 "
        + "ORDER BY h.xid LIMIT \(limit)"
    ) {
      $0.append(number)
      $0.append(source)
      $0.append(horizon)
    }
  }

  /// Asks up to which transaction the history may lack some; no row, or text.
  var deleted: Statement {
    Statement("SELECT value FROM \(namespace)._logstore_meta WHERE key = 'history.deleted'")
  }
}
#endif

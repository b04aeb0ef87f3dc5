#if PostgreSQL
import Foundation

/// The saves of others than one store, as the history tells them.
///
/// A transaction counts once every older save has ended: the questions are about transactions before a ``HistoryHorizon``. So
/// a reader that continues after the newest counted one misses none.
struct RemoteSaves: Sendable {
  /// The schema of the tables, quoted.
  let namespace: String
  /// The store whose own saves do not count.
  let source: UUID
  /// The end of the history.
  let horizon: HistoryHorizon

  /// Asks for the newest transaction below the horizon, of any store, even if its history was deleted; zero if there is none.
  func newest(before horizon: Int64) -> Statement {
    Statement(
      "SELECT COALESCE(GREATEST((SELECT max(xid) FROM \(namespace)._logstore_commit WHERE xid < $1), \(deleted)), 0)"
    ) { $0.append(horizon) }
  }

  /// Asks for the saves after a transaction, for ``News``.
  ///
  /// - Complexity: O(saves after the transaction, the store's own, too).
  func news(after number: Int64, before horizon: Int64) -> Statement {
    let isOther = "source IS DISTINCT FROM $2"
    return Statement(
      "SELECT max(xid) FILTER (WHERE xid < $3), COALESCE(bool_or(xid < $3 AND \(isOther)), false), "
        + "COALESCE(bool_or(xid >= $3 AND \(isOther)), false), \(deleted) "
        + "FROM \(namespace)._logstore_commit WHERE xid > $1"
    ) {
      $0.append(number)
      $0.append(source)
      $0.append(horizon)
    }
  }

  /// The saves after a transaction.
  struct News {
    /// The newest transaction below the horizon, of any store: the next look starts after it.
    let newest: Int64
    /// Whether others have saved something that counts, or may have, if the history no longer tells it.
    let hasOthers: Bool
    /// Whether some of the history after the transaction was deleted.
    let isIncomplete: Bool
    /// Whether others have saved something that will count once an older save has ended, which no notice will tell.
    let isPending: Bool

    init(_ result: StatementResult, after number: Int64) {
      // Every save among the deleted ones had ended.
      let deleted = result.isNull(0, 3) ? 0 : result.integer(0, 3)
      newest = max(number, deleted, result.isNull(0, 0) ? 0 : result.integer(0, 0))
      isIncomplete = deleted > number
      hasOthers = isIncomplete || result.bool(0, 1)
      isPending = result.bool(0, 2)
    }
  }

  /// Asks for the rows that were changed, up to a limit, and the kind of each change.
  ///
  /// The bound is repeated for the changes, and so is an order that the index has: a server that knows nothing of the newest
  /// rows yet would otherwise read all changes to join them with a few commits.
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

  /// The newest transaction whose history was deleted, or null.
  private var deleted: String {
    "(SELECT value::bigint FROM \(namespace)._logstore_meta WHERE key = 'history.deleted')"
  }
}
#endif

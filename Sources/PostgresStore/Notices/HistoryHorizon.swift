#if PostgreSQL
/// The number below which every transaction that saved to a store has ended, so that a reader that continues from there
/// misses none.
///
/// The server gives numbers when transactions begin to write, and not when they end: one with a smaller number may end later.
/// Of the running ones, only those that may be saves to this store hold its history back: a transaction that writes elsewhere
/// on the server may run for hours.
///
/// A transaction may be such a save if it has a lock of a table of the store, its turn, or the lock of its migrations. It has one
/// as long as it has a number: a save has locked the first table that it writes before it gets its number, and one that may
/// take back what it wrote, and the locks with it, does so within a turn or a migration.
struct HistoryHorizon: Sendable {
  /// The schema of the tables.
  private let namespace: String
  /// The store's identifier.
  private let identifier: String

  init(_ namespace: String, store identifier: String) {
    self.namespace = namespace
    self.identifier = identifier
  }

  /// Asks for the oldest running transaction of the server, and whether saves of the store may have later numbers.
  private var oldest: Statement {
    let newest = "(SELECT max(xid) FROM \(namespace.quotedName)._logstore_commit)"
    return Statement(
      "SELECT o.xid, COALESCE(\(newest) >= o.xid AND NOT pg_is_in_recovery(), false) "
        + "FROM (SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS xid) AS o"
    )
    .repeatable
  }

  /// Asks for the oldest running transaction that may be a save, or the one that comes next.
  ///
  /// The server looks at the locks after it has taken the statement's snapshot. A save that runs in the snapshot and has no
  /// lock any more has ended: statements that are sent afterwards see it.
  private var oldestSave: Statement {
    Statement(
      """
      WITH snapshot AS MATERIALIZED (SELECT pg_current_snapshot() AS s), \
      saves AS MATERIALIZED (\
      SELECT n.transactionid::text::bigint AS low FROM pg_locks AS n JOIN pg_locks AS l USING (virtualtransaction) \
      WHERE n.locktype = 'transactionid' AND n.granted \
      AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
      AND (l.locktype = 'relation' \
      AND l.relation IN (SELECT oid FROM pg_class WHERE relnamespace = $1::text::regnamespace) \
      OR l.locktype = 'advisory' AND l.objsubid = 1 AND (l.classid::bigint << 32) | l.objid::bigint \
      IN (hashtextextended($2, 0), hashtextextended($3, 0)))) \
      SELECT COALESCE(\
      (SELECT min(x::text::bigint) FROM snapshot, pg_snapshot_xip(s) AS x \
      WHERE x::text::bigint & 4294967295 IN (SELECT low FROM saves)), \
      (SELECT pg_snapshot_xmax(s)::text::bigint FROM snapshot))
      """
    ) {
      $0.append(namespace.quotedName)
      $0.append(Turn.lockName(identifier))
      $0.append(StoreCatalogue.lockName(namespace))
    }
    .repeatable
  }

  /// Finds the horizon.
  ///
  /// The history has to be read afterwards, by statements with snapshots of their own.
  ///
  /// - Throws: ``PostgresStoreError``.
  /// - Complexity: One round trip, and a second one if saves have later numbers than a running transaction.
  func read(_ connection: Connection) throws -> Int64 {
    let result = try connection.run([oldest])[0]
    let number = result.integer(0, 0)
    guard result.bool(0, 1) else { return number }
    do {
      return try connection.run([oldestSave])[0].integer(0, 0)
    } catch PostgresStoreError.server(let error) where !error.isTransient {
      // Not every server, and not every role, is shown the locks.
      return number
    }
  }
}
#endif

#if PostgreSQL
extension StoreCatalogue {
  /// Ends the history of a namespace that a dump or a logical replication has brought from another server.
  ///
  /// A commit bears its transaction's number, and each server counts its own. Another server comes to the same numbers again, and
  /// would refuse saves or take them for earlier ones. So the history begins anew, as after a move, and earlier tokens expire.
  /// The server that counted all numbers of a history keeps it.
  ///
  /// - Throws: ``PostgresStoreError``.
  /// - Complexity: O(1) if the history is the server's own; otherwise O(history).
  mutating func endForeignHistory() throws {
    let commits = name("_logstore_commit")
    // Of a save whose history was deleted, the number is negated.
    let question = Statement(
      "SELECT COALESCE(GREATEST((SELECT max(xid) FROM \(commits)), (SELECT -min(xid) FROM \(commits)), "
        + "(SELECT value::bigint FROM \(name("_logstore_meta")) WHERE key = 'history.deleted')), 0) "
        + ">= pg_snapshot_xmax(pg_current_snapshot())::text::bigint"
    )
    guard try connection.run([question])[0].bool(0, 0) else { return }
    try connection.withoutLimit {
      try change("DELETE FROM \(commits)", "DELETE FROM \(name("_logstore_change"))")
    }
    // A namespace of the older format is divided afterwards.
    if metadata["format"] != "1" {
      try HistoryPartitions(namespace: namespace).dropForeign(connection)
    }
    let now = try connection.run([Statement("SELECT pg_current_xact_id()::text")])[0]
    try set("history.deleted", now.text(0, 0))
    let deletions = metadata["history.deletions"].flatMap { Int64($0) } ?? 0
    try set("history.deletions", "\(deletions + 1)")
  }
}
#endif

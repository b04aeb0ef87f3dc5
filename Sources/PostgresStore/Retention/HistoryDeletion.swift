#if PostgreSQL
import ModelRuntime

/// The deletions from a store's history so far, and the end of that history.
struct HistoryState {
  /// The newest transaction that was deleted.
  let newestDeleted: Int64?
  /// Number of deletions.
  let deletionCount: Int64
  /// The number that the server gives to its next transaction.
  var next = Int64.max
  /// The number before which the history ends.
  var horizon = Int64.max

  static func statement(_ namespace: String) -> Statement {
    Statement(
      "SELECT max(value::bigint) FILTER (WHERE key = 'history.deleted'), "
        + "COALESCE(max(value::bigint) FILTER (WHERE key = 'history.deletions'), 0) "
        + "FROM \(namespace.quotedName)._logstore_meta WHERE key IN ('history.deleted', 'history.deletions')"
    )
  }

  init(_ result: StatementResult) {
    newestDeleted = result.isNull(0, 0) ? nil : result.integer(0, 0)
    deletionCount = result.integer(0, 1)
  }

  /// Whether nothing behind a transaction was deleted since the history was in another state.
  ///
  /// A reader that continues after the slices that are being deleted would otherwise begin anew at each slice.
  func isSame(as former: HistoryState, behind number: Int64) -> Bool {
    deletionCount == former.deletionCount || newestDeleted.map { $0 <= number } ?? false
  }

  /// Makes sure that nothing after a transaction was deleted.
  ///
  /// - Throws: `SwiftDataError.historyTokenExpired`.
  func check(_ bookmark: Int64) throws {
    guard bookmark < next else {
      throw SwiftDataError.historyTokenExpired.explained(
        "the token is of transaction \(bookmark), and the server has had none from \(next) on: the token is of the "
          + "time before the store was moved here; fetch the models anew, and go on from the newest token"
      )
    }
    guard let newestDeleted, bookmark < newestDeleted else { return }
    throw SwiftDataError.historyTokenExpired.explained(
      "the history up to transaction \(newestDeleted) was deleted in part, and the token is behind \(bookmark): fetch "
        + "the models anew, and go on from the newest token"
    )
  }
}

/// Deletes transactions from the history.
///
/// The name of a save outlives its history for a while: a store that has lost its connection may send the save again, or
/// the network may deliver a copy late, and the name is all that keeps the save from being done twice. Such a row of
/// the commits has the negated number of its transaction, so that no reader of the history finds it.
struct HistoryDeletion {
  let partitions: HistoryPartitions
  private let namespace: String
  private let sliceSize: Int

  /// The time for which a save may be sent again, and its name is kept.
  static let nameAge = Duration.seconds(3600)
  /// Number of transactions that are deleted at once: their changes take the server a fraction of a second, most of the time.
  static let standardSliceSize = 1000

  /// - Parameters:
  ///   - partitions: The partitions of the history.
  ///   - sliceSize: The number of transactions that are deleted at once.
  init(_ partitions: HistoryPartitions, sliceSize: Int) {
    self.partitions = partitions
    self.sliceSize = sliceSize
    namespace = partitions.namespace.quotedName
  }

  /// Deletes transactions, the oldest first, in slices that are a transaction of the server each.
  ///
  /// To ``HistoryHorizon`` a deletion is a save as any other: one that took minutes would keep every store from hearing of saves
  /// for as long.
  ///
  /// Changes stay in the partitions that no transaction of the history needs in the end: those are swept afterwards.
  ///
  /// - Parameters:
  ///   - numbers: The transactions.
  ///   - connection: The session.
  ///   - goesOn: Asked before each slice; the rest stays if it says no.
  /// - Throws: ``PostgresStoreError``; what was deleted by then stays deleted.
  /// - Complexity: O(deleted commits, their changes in partitions that are kept, and the names that are kept).
  func delete(
    _ numbers: [Int64],
    _ connection: Connection,
    while goesOn: () -> Bool = { true }
  ) throws {
    let numbers = numbers.sorted()
    let swept = try partitions.unneeded(connection, without: numbers).map { $0.lower..<$0.upper }
    for start in stride(from: 0, to: numbers.count, by: sliceSize) {
      guard goesOn() else { return }
      let slice = numbers[start..<min(start + sliceSize, numbers.count)]
      let rest = slice.filter { number in !swept.contains { $0.contains(number) } }
      try deleteSlice(Array(slice), changesOf: rest, connection)
    }
    try removeNames(connection, while: goesOn)
  }

  private func deleteSlice(
    _ numbers: [Int64],
    changesOf rest: [Int64],
    _ connection: Connection
  ) throws {
    guard let last = numbers.last else { return }
    let deletion = [
      .begin, note("history.deleted", "GREATEST(m.value::bigint, excluded.value::bigint)", last),
      note("history.deletions", "m.value::bigint + 1", 1),
      Statement(
        "UPDATE \(commits) SET xid = -xid, author = NULL WHERE xid = ANY ($1) AND NOT \(isOld)"
      ) { $0.append(numbers) },
      Statement("DELETE FROM \(commits) WHERE xid = ANY ($1)") { $0.append(numbers) },
    ]
    let changes = Statement("DELETE FROM \(namespace)._logstore_change WHERE xid = ANY ($1)") {
      $0.append(rest)
    }
    do {
      try connection.runUncounted(deletion + (rest.isEmpty ? [.commit] : [changes, .commit]))
    } catch {
      connection.rollBack()
      throw error
    }
  }

  /// Removes the names that are old enough of saves whose history was deleted, in such slices, too.
  func removeNames(_ connection: Connection, while goesOn: () -> Bool = { true }) throws {
    // The oldest have the greatest of the numbers with a minus: young ones are not looked at for each slice.
    let slice = Statement(
      "DELETE FROM \(commits) WHERE xid IN (SELECT xid FROM \(commits) WHERE xid < 0 AND \(isOld) "
        + "ORDER BY xid DESC LIMIT \(sliceSize))"
    )
    while goesOn(), try connection.runUncounted([slice])[0].affectedCount == sliceSize {}
  }

  private var commits: String { "\(namespace)._logstore_commit" }

  private var isOld: String {
    "at <= clock_timestamp() - interval '\(Int(HistoryDeletion.nameAge.seconds)) seconds'"
  }

  private func note(_ key: String, _ merged: String, _ value: Int64) -> Statement {
    Statement(
      "INSERT INTO \(namespace)._logstore_meta AS m VALUES ($1, $2) ON CONFLICT (key) "
        + "DO UPDATE SET value = (\(merged))::text"
    ) {
      $0.append(key)
      $0.append(String(value))
    }
  }
}
#endif

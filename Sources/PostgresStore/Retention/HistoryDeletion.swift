#if PostgreSQL
import ModelRuntime

/// What a store remembers of deletions from its history, and where that ends.
struct HistoryState {
  /// The newest transaction that was deleted.
  let newestDeleted: Int64?
  /// How often something was deleted.
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
/// the network may bring what was sent before, and the name is all that keeps it from being done twice. Such a row of
/// the commits has the number of its transaction with a minus, so that no reader of the history finds it.
struct HistoryDeletion {
  let partitions: HistoryPartitions
  private let namespace: String

  /// For how long a save may be sent again, and its name is kept.
  static let nameAge = Duration.seconds(3600)

  init(_ partitions: HistoryPartitions) {
    self.partitions = partitions
    namespace = partitions.namespace.quotedName
  }

  /// Deletes transactions, in one transaction.
  ///
  /// Changes stay in the partitions that no transaction of the history needs any more: those are swept afterwards.
  ///
  /// - Throws: ``PostgresStoreError``; then nothing is deleted.
  /// - Complexity: O(deleted commits, their changes in partitions that are kept, and the names that are kept).
  func delete(_ numbers: [Int64], _ connection: Connection) throws {
    guard let last = numbers.max() else { return }
    do {
      _ = try connection.runUncounted([
        .begin, note("history.deleted", "GREATEST(m.value::bigint, excluded.value::bigint)", last),
        note("history.deletions", "m.value::bigint + 1", 1),
        Statement(
          "UPDATE \(commits) SET xid = -xid, author = NULL WHERE xid = ANY ($1) AND NOT \(isOld)"
        ) { $0.append(numbers) },
        Statement("DELETE FROM \(commits) WHERE xid = ANY ($1)") { $0.append(numbers) },
        removal,
      ])
      let swept = try partitions.unneeded(connection).map { $0.lower..<$0.upper }
      let rest = numbers.filter { number in !swept.contains { $0.contains(number) } }
      let changes = Statement("DELETE FROM \(namespace)._logstore_change WHERE xid = ANY ($1)") {
        $0.append(rest)
      }
      _ = try connection.runUncounted(rest.isEmpty ? [.commit] : [changes, .commit])
    } catch {
      connection.rollBack()
      throw error
    }
  }

  /// Removes the names that are old enough of saves whose history was deleted.
  var removal: Statement { Statement("DELETE FROM \(commits) WHERE xid < 0 AND \(isOld)") }

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

#if PostgreSQL
import ModelRuntime
import RowFormat
import Synchronization

/// Hands on the rows that others have changed, each change once, as long as it is kept.
final class RemoteRowFeed: Sendable {
  private let pool: ConnectionPool
  private let saves: RemoteSaves
  private let note: @Sendable (ChangedRows) -> [@Sendable () -> Void]
  /// The newest transaction that was looked at, which may be the store's own.
  private let last: Mutex<Int64>
  private let watch = Mutex<RemoteSaveWatch?>(nil)

  /// Limit of the number of rows that are reported one by one.
  private static let rowLimit = 10_000

  /// - Parameters:
  ///   - saves: The saves to read.
  ///   - number: The newest transaction that is known.
  ///   - pool: The sessions to read in.
  ///   - note: Takes the rows, one call at a time, and returns the callbacks to call afterwards.
  init(
    _ saves: RemoteSaves,
    after number: Int64,
    _ pool: ConnectionPool,
    _ note: @escaping @Sendable (ChangedRows) -> [@Sendable () -> Void]
  ) {
    self.saves = saves
    self.pool = pool
    self.note = note
    last = Mutex(number)
  }

  /// The transaction behind which the next look begins.
  var position: Int64 { last.withLock { $0 } }

  /// Looks whenever a watch calls.
  func follow(_ watch: RemoteSaveWatch) { self.watch.withLock { $0 = watch } }

  /// Notes what others have saved by now.
  ///
  /// - Throws: ``PostgresStoreError``; the next look notes it.
  func look() throws {
    // Under the lock, so that a thread that finds nothing new finds what another has found noted.
    let notices = try last.withLock { last -> [@Sendable () -> Void] in
      let (newest, rows) = try read(after: last)
      last = newest
      return rows.map(note) ?? []
    }
    for notice in notices { notice() }
  }

  private func read(after last: Int64) throws -> (newest: Int64, rows: ChangedRows?) {
    let limit = RemoteRowFeed.rowLimit
    let results = try pool.retrying { connection in
      let horizon = try saves.horizon.read(connection)
      let statements = [
        .beginSnapshot, saves.news(after: last, before: horizon),
        saves.rows(after: last, before: horizon, limit: limit + 1), .commit,
      ]
      do {
        return try connection.run(statements)
      } catch {
        connection.rollBack()
        throw error
      }
    }
    let news = RemoteSaves.News(results[1], after: last)
    let changes = results[2]
    guard news.hasOthers else { return (news.newest, nil) }
    var rows = ChangedRows()
    if changes.rowCount > limit || news.isIncomplete {
      rows.isComplete = false
      return (news.newest, rows)
    }
    for row in 0..<changes.rowCount {
      let reference = RowReference(rawValue: UInt64(bitPattern: changes.integer(row, 0)))
      switch changes.text(row, 1) {
      case "insert": rows.inserted.append(reference)
      case "delete": rows.deleted.append(reference)
      default: rows.updated.append(reference)
      }
    }
    return (news.newest, rows)
  }
}
#endif

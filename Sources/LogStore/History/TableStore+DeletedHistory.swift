import Foundation
import LogEngine
import ModelRuntime

extension LogStore: DeletedHistoryReading {}
extension DefaultStore: DeletedHistoryReading {}

extension LogBackedStore {
  package func transactionsWithDeleted(
    since token: DefaultHistoryToken
  ) throws -> [DefaultHistoryTransaction]? {
    try openTables().transactionsWithDeleted(since: token)
  }
}

extension TableStore {
  /// The transactions behind a token, oldest first, those that were deleted included; `nil` if the log has not all of them.
  ///
  /// - Complexity: O(bytes saved after the token).
  func transactionsWithDeleted(
    since token: DefaultHistoryToken
  ) throws -> [DefaultHistoryTransaction]? {
    try follow()
    let bookmark = CommitSequence(UInt64(clamping: token.counter(of: identifier) ?? 0))
    return try perform(.fetching) {
      guard bookmark >= engine.lastCommitBeforeHistory, bookmark <= engine.lastCommit else {
        return nil
      }
      let decoder = HistoryDecoder(self)
      var transactions: [DefaultHistoryTransaction] = []
      do {
        try engine.forEachCommit(after: bookmark) { commit in
          let changes = try decoder.changes(of: commit)
          if changes.isEmpty { return .proceed }
          transactions.append(history.transaction(commit, changes))
          return .proceed
        }
      } catch StorageError.commitGone {
        // A compaction was faster.
        return nil
      }
      return transactions
    }
  }
}

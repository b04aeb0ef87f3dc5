/// A store that can still tell of transactions that were deleted from its history, as long as its log has them.
///
/// Observers count saves: that somebody was done with a save, and deleted its transaction, takes nothing from the count.
package protocol DeletedHistoryReading: HistoryProviding {
  /// Returns the transactions behind a token, oldest first, those that were deleted included.
  ///
  /// - Returns: The transactions; `nil` if the log has not all of them any more, or ends before the token.
  /// - Throws: What the store throws when it cannot be read.
  func transactionsWithDeleted(
    since token: HistoryType.TokenType
  ) throws -> [HistoryType]?
}

extension DeletedHistoryReading {
  /// The same for a token of any type; `nil` for one that is not the store's.
  func allTransactions(since token: any HistoryToken) throws -> [any HistoryTransaction]? {
    guard let token = token as? HistoryType.TokenType else { return nil }
    return try transactionsWithDeleted(since: token)
  }
}

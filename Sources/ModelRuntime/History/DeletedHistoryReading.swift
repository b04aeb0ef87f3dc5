/// A store that can still tell of transactions that were deleted from its history, as long as its log has them.
///
/// Observers count saves, whether their transactions were deleted meanwhile or not. And a reversal must know all that was done
/// behind what it takes back.
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

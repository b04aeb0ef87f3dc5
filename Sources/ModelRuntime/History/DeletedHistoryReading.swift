/// A store that can still read transactions deleted from its history, as long as its log has them.
///
/// Observers count saves, whether their transactions were deleted meanwhile or not. And a reversal needs all changes made
/// after those it reverts.
package protocol DeletedHistoryReading: HistoryProviding {
  /// Returns the transactions after a token, oldest first, deleted ones included.
  ///
  /// - Returns: The transactions; `nil` if the log no longer has all of them, or ends before the token.
  /// - Throws: An error if the store cannot be read.
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

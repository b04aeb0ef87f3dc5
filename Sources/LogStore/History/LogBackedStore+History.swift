public import ModelRuntime

extension LogStore: RemoteSaveReporting {
  /// The transactions of this store's history.
  public typealias HistoryType = DefaultHistoryTransaction
  /// The bookmarks of this store's history.
  public typealias TokenType = DefaultHistoryToken

  /// Returns what was saved, transaction by transaction.
  ///
  /// - Throws: ``/ModelRuntime/SwiftDataError/historyTokenExpired`` if the history after a token is no longer complete;
  ///   ``/ModelRuntime/SwiftDataError/invalidTransactionFetchRequest`` for a predicate that cannot be evaluated;
  ///   ``LogStoreError`` if the log cannot be read.
  /// - Complexity: O(what was saved after the token).
  public func fetchHistory(
    _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
  ) throws -> [DefaultHistoryTransaction] { try openTables().fetchHistory(descriptor) }

  /// Forgets transactions for good; what they take in the log goes with the next compactions.
  public func deleteHistory(
    _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
  ) throws { try openTables().deleteHistory(descriptor) }

  public func observeRemoteSaves(
    _ arrival: @escaping @Sendable () -> Void
  ) -> (any AnyObject & Sendable)? { tables.observeRemoteSaves(arrival) }
}

extension DefaultStore: RemoteSaveReporting {
  /// The transactions of this store's history.
  public typealias HistoryType = DefaultHistoryTransaction
  /// The bookmarks of this store's history.
  public typealias TokenType = DefaultHistoryToken

  /// Returns what was saved, transaction by transaction; see ``LogStore/fetchHistory(_:)``.
  public func fetchHistory(
    _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
  ) throws -> [DefaultHistoryTransaction] { try openTables().fetchHistory(descriptor) }

  /// Forgets transactions for good; what they take in the log goes with the next compactions.
  public func deleteHistory(
    _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
  ) throws { try openTables().deleteHistory(descriptor) }

  public func observeRemoteSaves(
    _ arrival: @escaping @Sendable () -> Void
  ) -> (any AnyObject & Sendable)? { tables.observeRemoteSaves(arrival) }
}

/// A store that records its changes, save by save.
///
/// A context finds it by the type of its transactions: ``ModelContext/fetchHistory(_:)`` asks every store of
/// its container whose ``HistoryType`` is the requested one.
public protocol HistoryProviding {
  /// The type of the transactions in the store's history.
  associatedtype HistoryType: HistoryTransaction

  /// The type of the transactions; by default ``HistoryType``.
  static var historyType: HistoryType.Type { get }

  /// Returns the transactions that match.
  ///
  /// - Throws: ``SwiftDataError/historyTokenExpired`` if the history since a token in the predicate is no
  ///   longer complete; ``SwiftDataError/invalidTransactionFetchRequest`` for a request the store cannot
  ///   answer.
  func fetchHistory(_ descriptor: HistoryDescriptor<HistoryType>) throws -> [HistoryType]

  /// Deletes the transactions that match.
  func deleteHistory(_ descriptor: HistoryDescriptor<HistoryType>) throws
}

extension HistoryProviding {
  public static var historyType: HistoryType.Type { HistoryType.self }
}

/// A store that others may save to while it is open here, and that notices such saves.
public protocol RemoteSaveReporting: HistoryProviding {
  /// Calls back each time another process has saved, on any thread, until the returned object
  /// is released.
  ///
  /// - Returns: An object that keeps the observation alive; `nil` if no other process can save.
  func observeRemoteSaves(_ arrival: @escaping @Sendable () -> Void) -> (any AnyObject & Sendable)?
}

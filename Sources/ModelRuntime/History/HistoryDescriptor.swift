public import Foundation

/// Which transactions of the history to fetch, or to delete.
///
///     var newest = HistoryDescriptor<DefaultHistoryTransaction>(
///       sortBy: [.init(\.transactionIdentifier, order: .reverse)])
///     newest.fetchLimit = 1
///
/// What a predicate says of `token`, `transactionIdentifier`, `author` and `timestamp`, alone or with
/// `&&`, a store over a log answers without a look at anything else; the first two also tell it where to
/// begin.
public struct HistoryDescriptor<TransactionType>: @unchecked Sendable
where TransactionType: HistoryTransaction {
  /// Which transactions; all, if `nil`.
  public var predicate: Predicate<TransactionType>?
  /// How many at most; without a limit if 0.
  public var fetchLimit: UInt64 = 0
  /// In what order; from the oldest to the newest, if empty.
  public var sortBy: [SortDescriptor<TransactionType>] = []

  /// Asks for the transactions that match, from the oldest to the newest.
  public init(predicate: Predicate<TransactionType>? = nil) {
    self.predicate = predicate
  }

  /// Asks for the transactions that match, in an order.
  public init(
    predicate: Predicate<TransactionType>? = nil,
    sortBy: [SortDescriptor<TransactionType>] = []
  ) {
    self.predicate = predicate
    self.sortBy = sortBy
  }
}

public import Foundation

/// Which transactions of the history to fetch, or to delete.
///
///     var newest = HistoryDescriptor<DefaultHistoryTransaction>(
///       sortBy: [.init(\.token, order: .reverse)])
///     newest.fetchLimit = 1
///
/// What a predicate says of `token`, `transactionIdentifier`, `author` and `timestamp`, alone or with
/// `&&`, a store over a log answers without a look at anything else; the first two also tell it where to
/// begin.
public struct HistoryDescriptor<TransactionType>: Sendable
where TransactionType: HistoryTransaction {
  /// The condition that transactions must meet; `nil` matches all.
  public var predicate: Predicate<TransactionType>?
  /// The maximum number of transactions; 0 for no limit.
  public var fetchLimit: UInt64 = 0
  /// The order of the transactions; from the oldest to the newest, if empty.
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

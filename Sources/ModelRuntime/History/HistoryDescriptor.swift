public import Foundation

/// A request for transactions of the history, to fetch or to delete.
///
///     var newest = HistoryDescriptor<DefaultHistoryTransaction>(
///       sortBy: [.init(\.token, order: .reverse)])
///     newest.fetchLimit = 1
///
/// Conditions on `token`, `transactionIdentifier`, `author` and `timestamp`, alone or with
/// `&&`, are answered by a store over a log without reading anything else; the first two also determine where it
/// begins.
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

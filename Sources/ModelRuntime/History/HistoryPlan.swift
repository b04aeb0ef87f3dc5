package import Foundation

/// The plan for a request in a store that numbers its transactions: the range of numbers, the tests, and
/// the order.
package struct HistoryPlan {
  /// The transactions to look at: those after one number, up to another.
  package private(set) var after: Int64 = 0
  package private(set) var through = Int64.max
  /// The transaction just before the greatest token of a lower bound; `nil` if no token bounds the
  /// request from below.
  package private(set) var bookmark: Int64?
  /// The direction in which the result comes out sorted; `nil` if it must be sorted.
  package let order: SortOrder?
  private var tests: [HistoryTest] = []
  /// The part of the predicate that bounds and tests do not cover.
  private let rest: Predicate<DefaultHistoryTransaction>?

  /// Plans a request to a store.
  ///
  /// - Parameters:
  ///   - descriptor: The request.
  ///   - store: The identifier of the store.
  package init(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>, store: String) {
    order = HistoryPlan.order(of: descriptor.sortBy)
    guard let predicate = descriptor.predicate else {
      rest = nil
      return
    }
    var conditions: [HistoryCondition] = []
    let isComplete = HistoryCondition.collect(from: predicate.expression, into: &conditions)
    rest = isComplete ? nil : predicate
    for condition in conditions { take(condition, store) }
  }

  /// Whether a transaction matches; the bounds are known to hold.
  ///
  /// - Throws: An error of evaluating the predicate.
  package func matches(_ transaction: DefaultHistoryTransaction) throws -> Bool {
    for test in tests where !test.holds(for: transaction) { return false }
    guard let rest else { return true }
    return try NodeFilter(rest).matches(transaction)
  }

  /// Whether a transaction may match, judged without its changes.
  package func mayMatch(author: String?, timestamp: Date) -> Bool {
    tests.allSatisfy { $0.holds(author, timestamp) }
  }

  /// Whether bounds and tests decide alone.
  package var isDecidedByTests: Bool { rest == nil }

  /// Whether a request is for all transactions up to one.
  package var isOnlyUpperBound: Bool { after == 0 && tests.isEmpty && rest == nil }

  private mutating func take(_ condition: HistoryCondition, _ store: String) {
    switch condition {
    case .test(let test): tests.append(test)
    case .number(let relation, let number): bound(relation, number)
    case .token(let relation, let token):
      // The token does not include this store: all of it is new.
      let counter = token.counter(of: store)
      bound(relation, counter ?? 0)
      guard let counter else { return }
      switch relation {
      case .greater: bookmark = max(bookmark ?? 0, counter)
      case .greaterOrEqual: bookmark = max(bookmark ?? 0, counter - 1)
      case .equal, .less, .lessOrEqual: break
      }
    }
  }

  private mutating func bound(_ relation: HistoryRelation, _ number: Int64) {
    // A number outside the possible range is clamped to the nearest possible one.
    let number = min(max(number, 0), .max - 1)
    switch relation {
    case .greater: after = max(after, number)
    case .greaterOrEqual: after = max(after, number - 1)
    case .less: through = min(through, number - 1)
    case .lessOrEqual: through = min(through, number)
    case .equal:
      after = max(after, number - 1)
      through = min(through, number)
    }
  }

  private static func order(of keys: [SortDescriptor<DefaultHistoryTransaction>]) -> SortOrder? {
    guard let first = keys.first else { return .forward }
    // Numbers are distinct: keys after the first do not matter.
    let numbers: [AnyKeyPath] = [
      \DefaultHistoryTransaction.token, \DefaultHistoryTransaction.transactionIdentifier,
      \DefaultHistoryTransaction.id,
    ]
    guard let keyPath = first.keyPath, numbers.contains(keyPath) else { return nil }
    return first.order
  }
}

/// The relation of a property to a constant.
enum HistoryRelation {
  case less, lessOrEqual, equal, greaterOrEqual, greater

  /// The relation with its sides exchanged.
  var mirrored: HistoryRelation {
    switch self {
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .equal: .equal
    case .greaterOrEqual: .lessOrEqual
    case .greater: .less
    }
  }

  /// The relation that holds if this one does not; none for equality.
  var negated: HistoryRelation? {
    switch self {
    case .less: .greaterOrEqual
    case .lessOrEqual: .greater
    case .equal: nil
    case .greaterOrEqual: .less
    case .greater: .lessOrEqual
    }
  }
}

/// A test of a transaction that does not need its changes.
enum HistoryTest {
  case author(String?, isEqual: Bool)
  case timestamp(HistoryRelation, Date)

  func holds(for transaction: DefaultHistoryTransaction) -> Bool {
    holds(transaction.author, transaction.timestamp)
  }

  func holds(_ author: String?, _ timestamp: Date) -> Bool {
    switch self {
    case .author(let name, let isEqual): (author == name) == isEqual
    case .timestamp(.less, let date): timestamp < date
    case .timestamp(.lessOrEqual, let date): timestamp <= date
    case .timestamp(.equal, let date): timestamp == date
    case .timestamp(.greaterOrEqual, let date): timestamp >= date
    case .timestamp(.greater, let date): timestamp > date
    }
  }
}

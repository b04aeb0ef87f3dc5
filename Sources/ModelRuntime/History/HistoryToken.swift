/// A bookmark in the history of stores: transactions with a greater token came later.
///
/// Tokens are meant to be kept, encoded, from one run to the next.
public protocol HistoryToken: Comparable, Codable, Hashable, Identifiable, Sendable {
  /// The type of the token's value.
  associatedtype TokenType: Codable, Hashable, Sendable

  /// The value of the token, for a store with its own tokens; `nil` if it has none.
  var tokenValue: TokenType? { get }
}

extension HistoryToken {
  /// The store whose transaction the token was taken from; "" if the token does not include it.
  public var storeIdentifier: String {
    if let token = self as? DefaultHistoryToken { return token.store.identifier }
    return (tokenValue as? [String: Any])?.keys.min() ?? ""
  }
}

/// A bookmark in the history of stores that number their transactions.
///
/// For each store it has the number of the newest transaction before it. If a container has several
/// stores, the token of a fetched transaction includes all that were fetched before it, so that
/// `transactions.last?.token` is a bookmark for all of them.
public struct DefaultHistoryToken: HistoryToken {
  /// The number of the newest transaction, by the identifier of each store.
  public typealias TokenType = [String: Int64]

  /// The store of the transaction.
  let store: HistoryStoreName
  let value: Int64
  /// The numbers of other stores; nearly always none.
  private let others: Others?

  private final class Others: Sendable {
    let counters: [String: Int64]
    init(_ counters: [String: Int64]) { self.counters = counters }

    /// Marks the token of a transaction that a store tests: only its own store counts.
    static let ignored = Others([:])
  }

  package init(_ store: HistoryStoreName, _ value: Int64) {
    self.store = store
    self.value = value
    others = nil
  }

  private init(_ store: HistoryStoreName, _ value: Int64, others: [String: Int64]) {
    self.store = store
    self.value = value
    self.others = others.isEmpty ? nil : Others(others)
  }

  private init(focused token: DefaultHistoryToken) {
    store = token.store
    value = token.value
    others = .ignored
  }

  /// The number of the newest transaction before the bookmark, by store.
  public var tokenValue: [String: Int64]? {
    var counters = others?.counters ?? [:]
    counters[store.identifier] = value
    return counters
  }

  public var id: Int {
    Int(truncatingIfNeeded: (others?.counters.values.reduce(0, &+) ?? 0) &+ value)
  }

  public var storeIdentifier: String { store.identifier }

  /// The number for a store; `nil` if the token does not include it.
  package func counter(of identifier: String) -> Int64? {
    identifier == store.identifier ? value : others?.counters[identifier]
  }
}

// MARK: Order

extension DefaultHistoryToken {
  /// Orders tokens of one store by their transactions.
  ///
  /// Of several stores, the first by identifier in which two tokens differ decides; a store that a token does
  /// not include counts as one of which nothing was seen.
  public static func < (lhs: DefaultHistoryToken, rhs: DefaultHistoryToken) -> Bool {
    let (left, right) = firstDifference(lhs, rhs)
    return left < right
  }

  public static func == (lhs: DefaultHistoryToken, rhs: DefaultHistoryToken) -> Bool {
    let (left, right) = firstDifference(lhs, rhs)
    return left == right
  }

  public func hash(into hasher: inout Hasher) {
    guard let others, others !== Others.ignored else {
      hasher.combine(store.identifier)
      return hasher.combine(value)
    }
    for (store, counter) in (tokenValue ?? [:]).sorted(by: { $0.key < $1.key }) {
      hasher.combine(store)
      hasher.combine(counter)
    }
  }

  private static func firstDifference(
    _ lhs: DefaultHistoryToken,
    _ rhs: DefaultHistoryToken
  ) -> (Int64, Int64) {
    if lhs.others == nil, rhs.others == nil, lhs.store == rhs.store {
      return (lhs.value, rhs.value)
    }
    if lhs.others === Others.ignored {
      return (lhs.value, rhs.counter(of: lhs.store.identifier) ?? 0)
    }
    if rhs.others === Others.ignored {
      return (lhs.counter(of: rhs.store.identifier) ?? 0, rhs.value)
    }
    let left = lhs.tokenValue ?? [:]
    let right = rhs.tokenValue ?? [:]
    for store in Set(left.keys).union(right.keys).sorted() {
      let counters = (left[store] ?? 0, right[store] ?? 0)
      if counters.0 != counters.1 { return counters }
    }
    return (0, 0)
  }

  /// The same transaction's token, in the form that a store compares with the tokens of a predicate.
  package var focused: DefaultHistoryToken { DefaultHistoryToken(focused: self) }

  /// The bookmark in the history of one store alone, whatever else the token includes.
  func bookmark(in store: String) -> DefaultHistoryToken {
    DefaultHistoryToken(HistoryStoreName(store), counter(of: store) ?? 0)
  }

  /// The bookmark after this transaction and after all those that another token is after.
  func joined(with other: DefaultHistoryToken?) -> DefaultHistoryToken {
    guard let other else { return self }
    var counters = other.tokenValue ?? [:]
    counters.merge(others?.counters ?? [:], uniquingKeysWith: max)
    let own = max(value, counters.removeValue(forKey: store.identifier) ?? 0)
    return DefaultHistoryToken(store, own, others: counters)
  }
}

// MARK: Keeping

extension DefaultHistoryToken {
  /// Reads a dictionary of stores and numbers.
  public init(from decoder: any Decoder) throws {
    var counters = try decoder.singleValueContainer().decode([String: Int64].self)
    guard let store = counters.keys.min(), let value = counters.removeValue(forKey: store),
      value >= 0, counters.values.allSatisfy({ $0 >= 0 })
    else {
      throw DecodingError.dataCorrupted(
        .init(
          codingPath: decoder.codingPath,
          debugDescription: "expected the numbers of transactions by store, found \(counters)"
        )
      )
    }
    self.init(HistoryStoreName(store), value, others: counters)
  }

  /// Writes a dictionary of stores and numbers.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(tokenValue ?? [:])
  }
}

/// The identifier of a store, shared by all tokens of its history.
package final class HistoryStoreName: Sendable, Equatable {
  package let identifier: String

  package init(_ identifier: String) { self.identifier = identifier }

  package static func == (lhs: HistoryStoreName, rhs: HistoryStoreName) -> Bool {
    lhs === rhs || lhs.identifier == rhs.identifier
  }
}

public import Foundation

/// A save, as recorded in the history of a store with ``DefaultHistoryToken``.
public struct DefaultHistoryTransaction: HistoryTransaction {
  /// A bookmark behind a transaction.
  public typealias TokenType = DefaultHistoryToken
  /// The number of a transaction in its store.
  public typealias TransactionIdentifier = Int64

  public let token: DefaultHistoryToken
  public let timestamp: Date
  public let author: String?
  private let contents: Contents

  private enum Contents: Sendable {
    case read([HistoryChange])
    /// For a predicate that must not ask.
    case unread(UnreadChanges)
  }

  package init(
    token: DefaultHistoryToken,
    timestamp: Date,
    author: String?,
    changes: [HistoryChange]
  ) {
    self.token = token
    self.timestamp = timestamp
    self.author = author
    contents = .read(changes)
  }

  /// A transaction whose changes are read when a predicate asks for them.
  package init(
    token: DefaultHistoryToken,
    timestamp: Date,
    author: String?,
    unread changes: UnreadChanges
  ) {
    self.token = token
    self.timestamp = timestamp
    self.author = author
    contents = .unread(changes)
  }

  /// The same transaction with the token of a fetch that other stores took part in.
  func with(_ token: DefaultHistoryToken) -> DefaultHistoryTransaction {
    DefaultHistoryTransaction(
      token: token,
      timestamp: timestamp,
      author: author,
      changes: changes
    )
  }

  public var id: Int64 { token.value }
  public var transactionIdentifier: Int64 { token.value }
  public var storeIdentifier: String { token.store.identifier }

  public var changes: [HistoryChange] {
    switch contents {
    case .read(let changes): changes
    case .unread(let changes): changes.read()
    }
  }

  /// Always empty: the saving program is not recorded; see ``author``.
  public var bundleIdentifier: String { "" }
  /// Always empty: the saving process is not recorded; see ``author``.
  public var processIdentifier: String { "" }

  public static func == (
    lhs: DefaultHistoryTransaction,
    rhs: DefaultHistoryTransaction
  ) -> Bool {
    lhs.token.value == rhs.token.value && lhs.token.store == rhs.token.store
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(token.value)
    hasher.combine(token.store.identifier)
  }
}

/// The changes of a transaction that is being tested; used by one thread.
package final class UnreadChanges: @unchecked Sendable {
  private let decode: () throws -> [HistoryChange]
  private var known: [HistoryChange]?
  /// The error that occurred when a predicate asked.
  package private(set) var failure: (any Error)?

  package init(_ decode: @escaping () throws -> [HistoryChange]) { self.decode = decode }

  fileprivate func read() -> [HistoryChange] {
    if let known { return known }
    do {
      let changes = try decode()
      known = changes
      return changes
    } catch {
      failure = error
      return []
    }
  }
}

import Foundation

extension ModelContext {
  /// Returns what was saved, transaction by transaction: by any context, and by other processes.
  ///
  ///     var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
  ///     descriptor.predicate = #Predicate { $0.token > last && $0.author != "sync" }
  ///     for transaction in try context.fetchHistory(descriptor) { … }
  ///
  /// Of several stores, the transactions come merged by the time they were made, those of each store in its own order.
  /// Their tokens are bookmarks for all of those stores, also for one that had nothing new since the token in the
  /// predicate.
  ///
  /// - Parameter descriptor: Which transactions, and in what order; its type says which stores are asked.
  /// - Returns: The transactions.
  /// - Throws: ``SwiftDataError/historyTokenExpired`` if what came after a token in the predicate can no
  ///   longer be told in full: begin anew, from the models as they are;
  ///   ``SwiftDataError/invalidTransactionFetchRequest`` for a request that a store cannot answer;
  ///   ``DataStoreError/unsupportedFeature`` if no store of the container has such transactions.
  /// - Complexity: In a store over a log, O(what was saved after the token).
  public func fetchHistory<T>(_ descriptor: HistoryDescriptor<T>) throws -> [T]
  where T: HistoryTransaction {
    let found = try coordinator.connections.compactMap { try $0.fetchHistory(descriptor) }
    guard var merged = found.first else { throw DataStoreError.unsupportedFeature }
    if found.count == 1 { return merged }
    merged = HistoryMerge.merge(found, behind: descriptor.bookmark)
    if !descriptor.sortBy.isEmpty { merged.sort(using: descriptor.sortBy) }
    if descriptor.fetchLimit > 0, merged.count > descriptor.fetchLimit {
      merged.removeLast(merged.count - Int(descriptor.fetchLimit))
    }
    return merged
  }

  /// Forgets transactions for good; the models stay as they are.
  ///
  /// - Parameter descriptor: The transactions to delete.
  /// - Throws: As ``fetchHistory(_:)``; ``SwiftDataError`` for a store that was opened without the right to save.
  public func deleteHistory<T>(_ descriptor: HistoryDescriptor<T>) throws
  where T: HistoryTransaction {
    var isKnown = false
    for connection in coordinator.connections {
      isKnown = try connection.deleteHistory(descriptor) || isKnown
    }
    if !isKnown { throw DataStoreError.unsupportedFeature }
  }
}

/// Puts the transactions of several stores into one order.
enum HistoryMerge {
  /// Merges transactions by the time they were made.
  ///
  /// - Parameters:
  ///   - lists: The transactions of each store.
  ///   - bookmark: What all of them are behind; the token of each then says it, too.
  /// - Returns: The transactions, those of each store in its own order.
  static func merge<T: HistoryTransaction>(
    _ lists: [[T]],
    behind bookmark: DefaultHistoryToken?
  ) -> [T] {
    guard let numbered = lists as? [[DefaultHistoryTransaction]] else {
      return lists.joined().enumerated().sorted { first, second in
        (first.element.timestamp, first.offset) < (second.element.timestamp, second.offset)
      }.map(\.element)
    }
    return mergeNumbered(numbered, behind: bookmark) as? [T] ?? []
  }

  /// The oldest of the lists' first transactions, again and again: a time need not be later than that of the transaction
  /// before, and a token that is behind a transaction is behind all that the store made earlier.
  private static func mergeNumbered(
    _ lists: [[DefaultHistoryTransaction]],
    behind bookmark: DefaultHistoryToken?
  ) -> [DefaultHistoryTransaction] {
    var rests = lists.map { $0.sorted { $0.id < $1.id }[...] }
    var bookmark = bookmark
    var merged: [DefaultHistoryTransaction] = []
    while true {
      var next: (list: Int, time: Date)?
      for (list, rest) in rests.enumerated() {
        guard let first = rest.first, next.map({ first.timestamp < $0.time }) ?? true else {
          continue
        }
        next = (list, first.timestamp)
      }
      guard let next, let transaction = rests[next.list].popFirst() else { return merged }
      let token = transaction.token.joined(with: bookmark)
      bookmark = token
      merged.append(transaction.with(token))
    }
  }
}

extension HistoryDescriptor {
  /// What all transactions of the request are behind, by its predicate; `nil` if that does not say.
  fileprivate var bookmark: DefaultHistoryToken? {
    guard let predicate else { return nil }
    var conditions: [HistoryCondition] = []
    _ = HistoryCondition.collect(from: predicate.expression, into: &conditions)
    return conditions.reduce(nil) { bookmark, condition in
      switch condition {
      case .token(.greater, let token), .token(.greaterOrEqual, let token):
        token.joined(with: bookmark)
      case .token, .number, .test: bookmark
      }
    }
  }
}

extension HistoryProviding {
  /// The transactions a request asks for, if they are of this store's type.
  func fetch<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> [T]? {
    guard let own = descriptor as? HistoryDescriptor<HistoryType> else { return nil }
    return (try fetchHistory(own) as Any) as? [T]
  }

  /// - Returns: Whether the transactions are of this store's type.
  func delete<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> Bool {
    guard let own = descriptor as? HistoryDescriptor<HistoryType> else { return false }
    try deleteHistory(own)
    return true
  }
}

extension StoreConnection {
  /// The transactions that a request asks for; `nil` if the store has none of that type.
  func fetchHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> [T]? {
    try EntityNames.withCurrent(descriptorsByName) { try store.history?.fetch(descriptor) }
  }

  /// - Returns: Whether the store has transactions of that type.
  func deleteHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> Bool {
    guard let history = store.history, Swift.type(of: history).historyType is T.Type else {
      return false
    }
    guard allowsSave else {
      throw SwiftDataError.saveNotAllowed(to: self)
    }
    return try history.delete(descriptor)
  }
}

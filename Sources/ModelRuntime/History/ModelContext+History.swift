import Foundation

extension ModelContext {
  /// Returns the saves, transaction by transaction, of any context and of other processes.
  ///
  ///     var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
  ///     descriptor.predicate = #Predicate { $0.token > last && $0.author != "sync" }
  ///     for transaction in try context.fetchHistory(descriptor) { … }
  ///
  /// Transactions of several stores are merged by the time they were made, those of each store in its own order.
  /// Their tokens are bookmarks for all of those stores, also for one without anything new since the token in the
  /// predicate.
  ///
  /// - Parameter descriptor: The transactions to fetch, and their order; its type selects the stores.
  /// - Returns: The transactions.
  /// - Throws: ``SwiftDataError/historyTokenExpired`` if the history after a token in the predicate is
  ///   no longer complete: begin anew, from the current models;
  ///   ``SwiftDataError/invalidTransactionFetchRequest`` for a request that a store cannot answer;
  ///   ``DataStoreError/unsupportedFeature`` if no store of the container has such transactions.
  /// - Complexity: In a store over a log, O(changes saved after the token).
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

  /// Deletes transactions permanently; the models stay as they are.
  ///
  /// - Parameter descriptor: The transactions to delete.
  /// - Throws: As ``fetchHistory(_:)``; ``SwiftDataError`` for a read-only store.
  public func deleteHistory<T>(_ descriptor: HistoryDescriptor<T>) throws
  where T: HistoryTransaction {
    var isKnown = false
    for connection in coordinator.connections {
      isKnown = try connection.deleteHistory(descriptor) || isKnown
    }
    if !isKnown { throw DataStoreError.unsupportedFeature }
  }
}

/// Merges the transactions of several stores.
enum HistoryMerge {
  /// Merges transactions by the time they were made.
  ///
  /// - Parameters:
  ///   - lists: The transactions of each store.
  ///   - bookmark: The token before all of them; it is joined into the token of each.
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

  /// Takes the oldest of the lists' first transactions, repeatedly: a transaction may have an earlier time than the one
  /// before it, and a token after a transaction is after all earlier ones of the store.
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
  /// The token before all transactions of the request, by its predicate; `nil` if that has none.
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
  /// The transactions that match a request, if they are of this store's type.
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
  /// The transactions that match a request; `nil` if the store has none of that type.
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

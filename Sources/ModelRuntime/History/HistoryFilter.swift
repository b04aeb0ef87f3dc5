import Foundation

/// The saves that an observer counts.
struct HistoryFilter: Sendable {
  let models: [ModelDescriptor]
  let authors: Set<String>

  func matches(_ event: SaveEvent) -> Bool {
    matches(event.author)
      && (models.isEmpty || event.models.contains(where: matches)
        || event.owners.contains(where: mayMatch))
  }

  func matches(_ transaction: any HistoryTransaction) -> Bool {
    matches(transaction.author)
      && (models.isEmpty || transaction.changes.contains { matches(.of($0.modelType)) })
  }

  private func matches(_ author: String?) -> Bool {
    authors.isEmpty || author.map(authors.contains) ?? false
  }

  private func matches(_ descriptor: ModelDescriptor) -> Bool {
    models.contains(where: descriptor.isKind(of:))
  }

  /// Whether models of a class, or of one of its subclasses, count.
  private func mayMatch(_ descriptor: ModelDescriptor) -> Bool {
    models.contains { descriptor.isKind(of: $0) || $0.isKind(of: descriptor) }
  }
}

extension HistoryChange {
  /// The class of the model that changed.
  fileprivate var modelType: any PersistentModel.Type {
    func type<C: HistoryInsert>(_: C) -> any PersistentModel.Type { C.Model.self }
    func type<C: HistoryUpdate>(_: C) -> any PersistentModel.Type { C.Model.self }
    func type<C: HistoryDelete>(_: C) -> any PersistentModel.Type { C.Model.self }
    switch self {
    case .insert(let change): return type(change)
    case .update(let change): return type(change)
    case .delete(let change): return type(change)
    }
  }
}

extension HistoryProviding {
  /// The transactions after a token, oldest first; all there are, without one.
  ///
  /// - Throws: ``SwiftDataError/invalidTransactionFetchRequest`` for a token of another type than the store's.
  func transactions(since token: (any HistoryToken)?) throws -> [any HistoryTransaction] {
    guard let token else { return try fetchHistory(HistoryDescriptor()) }
    guard let bound = token as? HistoryType.TokenType else {
      throw SwiftDataError.invalidTransactionFetchRequest.explained(
        "expected a token of type \(HistoryType.TokenType.self), found a \(type(of: token))"
      )
    }
    // A store of this kind begins at the token; for any other kind, it is unknown which predicates it understands.
    if let bound = bound as? DefaultHistoryToken,
      let request = HistoryDescriptor<DefaultHistoryTransaction>(
        // As `#Predicate` writes it: in this module that name is our macro's, which is for models.
        predicate: Predicate {
          PredicateExpressions.build_Comparison(
            lhs: PredicateExpressions.build_KeyPath(root: $0, keyPath: \.token),
            rhs: PredicateExpressions.build_Arg(bound),
            op: .greaterThan
          )
        }
      ) as? HistoryDescriptor<HistoryType>
    {
      return try fetchHistory(request)
    }
    return try fetchHistory(HistoryDescriptor()).filter { $0.token > bound }
  }

  /// The token of the newest transaction; `nil` if there is none.
  func newestToken() throws -> (any HistoryToken)? {
    var newest = HistoryDescriptor<DefaultHistoryTransaction>(
      sortBy: [SortDescriptor(\.transactionIdentifier, order: .reverse)]
    )
    newest.fetchLimit = 1
    if let request = newest as? HistoryDescriptor<HistoryType> {
      return try fetchHistory(request).first?.token as? any HistoryToken
    }
    return try fetchHistory(HistoryDescriptor()).max { $0.token < $1.token }?.token
      as? any HistoryToken
  }
}

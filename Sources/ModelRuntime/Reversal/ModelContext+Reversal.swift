import Foundation

extension ModelContext {
  /// Takes back what transactions did, as new changes.
  ///
  ///     let imports = try context.fetchHistory(descriptor)
  ///     let reversal = try context.revert(imports)
  ///     for conflict in reversal.conflicts { print(conflict) }
  ///     try context.save()
  ///
  /// Attributes and relationships that the transactions set get what they had before. What the transactions inserted is
  /// deleted, and what they deleted comes back as new models, which have other identifiers
  /// (``RestoredModel/formerIdentifier``); what referred to them does again, unless others have set it to something
  /// else. What others have done since stays: a property that a later transaction set, or a model that it
  /// changed after it was inserted, is a ``ReversalConflict``, unless it is again what it was before. Lists take
  /// back who came and who went, beside what others have added.
  ///
  /// Nothing is saved: the changes are those of any other code, with the delete rules of what is deleted, with undo, and with
  /// ``rollback()``. A transaction that takes others back is one that can be taken back in its turn. Take each back once: nothing
  /// tells that a deleted model is there again, as a new one, so it would come back each time.
  ///
  /// - Parameter transactions: The transactions, in any order, of one store or several.
  /// - Returns: What has been changed, and what has not.
  /// - Throws: ``SwiftDataError/historyTokenExpired`` if not all is known any more that was saved since the first of them;
  ///   ``DataStoreError/unsupportedFeature`` if the store cannot be read as it was: those over a log can; what the
  ///   stores throw. Then no model has changed.
  /// - Complexity: O(changes saved since the first of the transactions), and what ``ModelContainer/asOf(_:)-(DefaultHistoryToken)``
  ///   takes; and if a deleted model comes back that may have been in a list without an inverse, O(owners of such lists).
  @discardableResult
  public func revert(_ transactions: some Sequence<DefaultHistoryTransaction>) throws -> Reversal {
    try checked("revert(_:)") {
      guard !coordinator.isOfThePast else { throw DataStoreError.unsupportedFeature }
      try throwDeferredError()
      mergeSavedChanges()
      let byStore = Dictionary(grouping: transactions, by: \.storeIdentifier)
      let known = coordinator.connections.filter { byStore[$0.identifier] != nil }
      guard known.count == byStore.count else {
        throw SwiftDataError.historyTokenExpired.explained(
          "transactions are of other stores (\(byStore.keys.sorted().joined(separator: ", "))): take them from the history "
            + "of this container"
        )
      }
      // All is read before anything is changed.
      let reversals = try known.map { connection in
        try StoreReversal(of: byStore[connection.identifier] ?? [], in: connection, self)
      }
      var reversal = Reversal()
      for part in reversals { part.apply(to: &reversal) }
      return reversal
    }
  }

  /// Takes back what an author did, as new changes.
  ///
  ///     let reversal = try context.revert(author: "import")
  ///
  /// - Parameters:
  ///   - author: Whose transactions; see ``author``.
  ///   - token: A bookmark: only those behind it. Without one, all that the history knows.
  /// - Returns: As ``revert(_:)``.
  /// - Throws: As ``revert(_:)`` and ``fetchHistory(_:)``; ``SwiftDataError/historyTokenExpired`` for a token of other stores.
  @discardableResult
  public func revert(
    author: String,
    since token: DefaultHistoryToken? = nil
  ) throws -> Reversal {
    if let token { try coordinator.checkIsKnown(token) }
    let descriptor = token.map { HistoryDescriptor(after: $0, through: nil) } ?? HistoryDescriptor()
    return try revert(fetchHistory(descriptor).lazy.filter { $0.author == author })
  }
}

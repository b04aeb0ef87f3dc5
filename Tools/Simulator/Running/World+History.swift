import SwiftData

extension World {
  /// Reads what was committed since it was last asked, and checks that the rows it names are those there are.
  ///
  /// - Throws: ``Violation``, or what reading the history throws.
  func checkHistory() throws {
    let context = ModelContext(containers[0])
    var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
    if let token = historyToken {
      descriptor.predicate = #Predicate { $0.token > token }
    }
    let transactions = try context.fetchHistory(descriptor)
    for transaction in transactions {
      for change in transaction.changes {
        let identifier = change.changedPersistentIdentifier
        switch change {
        case .insert:
          guard historyRows.insert(identifier).inserted else {
            throw Violation(.history, "\(identifier) was inserted twice")
          }
        case .delete:
          guard historyRows.remove(identifier) != nil else {
            throw Violation(.history, "\(identifier) was deleted, and was not there")
          }
        case .update:
          guard historyRows.contains(identifier) else {
            throw Violation(.history, "\(identifier) was updated, and was not there")
          }
        }
      }
      if let last = historyToken, transaction.token <= last {
        throw Violation(.history, "a transaction does not come after the one before it")
      }
      historyToken = transaction.token
    }
    var found: Set<PersistentIdentifier> = []
    for kind in Kind.allCases where kind != .captain {
      found.formUnion(try kind.driver.identifiers(in: context))
    }
    guard found == historyRows else {
      let difference = found.symmetricDifference(historyRows)
      throw Violation(.history, "history and rows differ by \(difference.map { "\($0)" }.sorted())")
    }
  }
}

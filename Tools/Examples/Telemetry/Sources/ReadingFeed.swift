import SwiftData

/// Readings as they are saved, from the history of the store: none is missed, however slow the reader is.
struct ReadingFeed: Sendable {
  /// The readings of one save.
  struct News: Sendable {
    var readings: [ReadingMessage]
    /// The place from which to continue after it.
    var place: Place
  }

  /// A place in the history, as text for the client to keep.
  struct Place: LosslessStringConvertible, Sendable {
    var token: DefaultHistoryToken

    init(token: DefaultHistoryToken) { self.token = token }

    init?(_ description: String) {
      guard let data = Data(base64Encoded: description),
        let token = try? JSONDecoder().decode(DefaultHistoryToken.self, from: data)
      else { return nil }
      self.init(token: token)
    }

    var description: String {
      // A token is made of numbers and text, which JSON can say.
      ((try? JSONEncoder().encode(token)) ?? Data()).base64EncodedString()
    }
  }

  let container: ModelContainer

  /// Counts the saves that bring readings; observation of its counter reports each of them.
  func observer() throws -> HistoryObserver {
    try HistoryObserver(observedModels: [Reading.self], modelContainer: container)
  }

  /// The present end of the history; `nil` if nothing was ever saved.
  func end() async throws -> Place? {
    try await container.read { context in
      var newest = HistoryDescriptor<DefaultHistoryTransaction>(
        sortBy: [.init(\.transactionIdentifier, order: .reverse)]
      )
      newest.fetchLimit = 1
      return try context.fetchHistory(newest).first.map { Place(token: $0.token) }
    }
  }

  /// The saves after a place, oldest first: a hundred at most, so that memory is bounded.
  ///
  /// Readings that were removed meanwhile are left out.
  ///
  /// - Throws: `SwiftDataError.historyTokenExpired` if the history no longer reaches back to the place.
  func news(after place: Place?) async throws -> [News] {
    try await container.read { context in
      var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
      if let token = place?.token { descriptor.predicate = #Predicate { $0.token > token } }
      descriptor.fetchLimit = 100
      return try context.fetchHistory(descriptor).map { transaction in
        let new = Set(
          transaction.changes.compactMap { change in
            guard case .insert(let insert as DefaultHistoryInsert<Reading>) = change else {
              return PersistentIdentifier?.none
            }
            return insert.changedPersistentIdentifier
          }
        )
        let readings = FetchDescriptor<Reading>(
          predicate: #Predicate { new.contains($0.persistentModelID) },
          sortBy: [SortDescriptor(\.number)]
        )
        return News(
          readings: new.isEmpty ? [] : try context.fetch(readings).map(ReadingMessage.init),
          place: Place(token: transaction.token)
        )
      }
    }
  }
}

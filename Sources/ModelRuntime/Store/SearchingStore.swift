package import RowFormat

/// A store that ranks its rows by the words of their texts itself.
package protocol SearchingStore: RowStore {
  /// Finds the rows that a request asks for and that have the words of a query, the best first.
  ///
  /// - Parameters:
  ///   - request: The rows; its sort, limit and offset are left out of account.
  ///   - wanted: What is looked for.
  ///   - excluded: Rows that are left out, because the context has others in their place.
  /// - Returns: The rows, and what is known of all texts.
  /// - Throws: ``DataStoreError/preferInMemoryFilter`` for a predicate that needs objects, or what reading throws.
  func search<T: PersistentModel>(
    _ request: DataStoreFetchRequest<T>,
    _ wanted: SearchRequest,
    excluding excluded: Set<RowReference>
  ) throws -> SearchAnswer
}

/// What a search looks for.
package struct SearchRequest: Sendable {
  package let query: TextQuery
  /// The properties, by their numbers.
  package let columns: [Int]
  /// How many rows are wanted; `nil` for all.
  package let limit: Int?

  package init(_ query: TextQuery, columns: [Int], limit: Int?) {
    self.query = query
    self.columns = columns
    self.limit = limit
  }
}

/// What a store found.
package struct SearchAnswer {
  /// What is known of the texts of each property, in the order of the request.
  package var statistics: [TextScore.Statistics]
  /// The rows as of the commit that was searched, the best first; of equal ones the one with the lower reference.
  package var rows: [(row: FetchedRow, score: Double)]

  package init(
    statistics: [TextScore.Statistics],
    rows: [(row: FetchedRow, score: Double)]
  ) {
    self.statistics = statistics
    self.rows = rows
  }
}

import RowFormat

/// A store that ranks its rows by the words of their texts itself.
package protocol SearchingStore: RowStore {
  /// Finds the rows that match a request and have the words of a query, the best first.
  ///
  /// - Parameters:
  ///   - request: The rows; its sort, limit and offset are ignored.
  ///   - wanted: The words and properties to search.
  ///   - excluded: Rows that are left out, because the context has newer versions of them.
  /// - Returns: The rows, and the statistics of all texts.
  /// - Throws: ``DataStoreError/preferInMemoryFilter`` for a predicate that needs objects, or an error of reading.
  func search<T: PersistentModel>(
    _ request: DataStoreFetchRequest<T>,
    _ wanted: SearchRequest,
    excluding excluded: ExcludedRows
  ) throws -> SearchAnswer
}

/// The query of a search, with its properties.
package struct SearchRequest: Sendable {
  package let query: TextQuery
  /// The properties, by their numbers.
  package let columns: [Int]
  /// Maximum number of rows; `nil` for all.
  package let limit: Int?

  package init(_ query: TextQuery, columns: [Int], limit: Int?) {
    self.query = query
    self.columns = columns
    self.limit = limit
  }
}

/// The result of a store's search.
package struct SearchAnswer {
  /// The statistics of each property's texts, in the order of the request.
  package var statistics: [TextScore.Statistics]
  /// The rows as of the searched commit, the best first; of equal ones the one with the lower reference.
  package var rows: [(row: FetchedRow, score: Double)]

  package init(
    statistics: [TextScore.Statistics],
    rows: [(row: FetchedRow, score: Double)]
  ) {
    self.statistics = statistics
    self.rows = rows
  }
}

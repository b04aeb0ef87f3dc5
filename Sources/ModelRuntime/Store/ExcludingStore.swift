import RowFormat

/// A store that leaves rows out of its answers.
package protocol ExcludingStore: RowStore {
  /// Returns the rows of a request that are not among some.
  ///
  /// - Parameters:
  ///   - request: The request; its limit and its offset count none of the excluded rows.
  ///   - excluded: Rows that the context has newer versions of.
  /// - Returns: The rows, as of `fetchRows(_:)`.
  /// - Throws: As `fetchRows(_:)`.
  func fetchRows<T: PersistentModel>(
    _ request: DataStoreFetchRequest<T>,
    excluding excluded: ExcludedRows
  ) throws -> [FetchedRow]

  /// The number of the rows of a request without some.
  ///
  /// - Parameters:
  ///   - request: The request; it has no limit and no offset.
  ///   - excluded: Rows that the context has newer versions of.
  /// - Returns: `nil` if they cannot be left out without looking at many rows.
  /// - Throws: As `fetchCount(_:)`.
  func fetchCount<T: PersistentModel>(
    _ request: DataStoreFetchRequest<T>,
    excluding excluded: ExcludedRows
  ) throws -> Int?
}

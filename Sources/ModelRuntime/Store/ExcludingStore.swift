import RowFormat

/// A store that leaves rows out of its answers.
package protocol ExcludingStore: RowStore {
  /// Returns the rows of a request that are not among some.
  ///
  /// - Parameters:
  ///   - request: The request; its limit and its offset count none of the excluded rows.
  ///   - excluded: Rows that the context has newer versions of.
  ///   - place: A place in the order up to which all rows that match are excluded, if one is known: where an index leads to it,
  ///     these need not be passed over.
  /// - Returns: The rows, as of `fetchRows(_:)`.
  /// - Throws: As `fetchRows(_:)`.
  func fetchRows<T: PersistentModel>(
    _ request: DataStoreFetchRequest<T>,
    excluding excluded: ExcludedRows,
    behind place: PagePosition?
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

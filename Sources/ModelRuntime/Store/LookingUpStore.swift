package import RowFormat

/// A store that finds single rows, and rows by unique keys or the values in an expression, without being given a class of
/// the program.
package protocol LookingUpStore: RowStore {
  /// The rows of a class that match, in the order of their references, if an index leads to a few candidates.
  ///
  /// - Parameters:
  ///   - expression: A translated predicate.
  ///   - type: The class of the models; subclasses are included.
  ///   - limit: Maximum number of rows.
  /// - Returns: `nil` if the store must be asked by a request: the answer may cost more, or must be reported.
  /// - Throws: An error of reading.
  func rows(
    matching expression: QueryExpression,
    of type: ModelDescriptor,
    atMost limit: Int
  ) throws -> [FetchedRow]?

  /// The same for the rows that have a value in an attribute.
  func rows(
    having value: QueryValue,
    of lookUp: AttributeLookUp,
    atMost limit: Int
  ) throws -> [FetchedRow]?

  /// The newest version of a row, or `nil` if there is none.
  func row(at reference: RowReference) throws -> FetchedRow?

  /// Lends the newest versions of rows in place.
  ///
  /// - Parameters:
  ///   - references: The rows, ascending; those that do not exist are left out.
  ///   - body: Called with each, in order.
  /// - Throws: An error of reading, or of `body`.
  func visitRows(
    at references: [RowReference],
    _ body: (RowReference, RawSpan) throws -> Void
  ) throws

  /// The rows with unique keys.
  ///
  /// - Parameters:
  ///   - keys: The keys.
  ///   - constraint: The constraint of the keys.
  /// - Returns: The row of each key, by its number; ``RowReference/none`` if there is none.
  /// - Throws: An error of reading, or of making an index.
  func rows(
    having keys: KeyList,
    of constraint: UniquenessConstraint
  ) throws -> [RowReference]
}

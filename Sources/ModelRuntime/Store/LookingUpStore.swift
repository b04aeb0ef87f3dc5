package import RowFormat

/// A store that finds single rows, and rows by unique keys or the values an expression names, without being told a class of
/// the program.
package protocol LookingUpStore: RowStore {
  /// The rows of a class that match, in the order of their references, if an index leads to a few candidates.
  ///
  /// - Parameters:
  ///   - expression: A translated predicate.
  ///   - type: The class of the models; those of its subclasses are wanted, too.
  ///   - limit: How many rows are wanted.
  /// - Returns: `nil` if the store has to be asked by a request: the answer may cost more, or has to be reported.
  /// - Throws: What reading throws.
  func rows(
    matching expression: QueryExpression,
    of type: ModelDescriptor,
    atMost limit: Int
  ) throws -> [FetchedRow]?

  /// The same of the rows that have a value in an attribute.
  func rows(
    having value: QueryValue,
    of lookUp: AttributeLookUp,
    atMost limit: Int
  ) throws -> [FetchedRow]?

  /// The newest version of a row, or `nil` if there is none.
  func row(at reference: RowReference) throws -> FetchedRow?

  /// Lends the newest versions of rows where they are.
  ///
  /// - Parameters:
  ///   - references: The rows, ascending; those that do not exist are left out.
  ///   - body: Called with each, in order.
  /// - Throws: What reading throws, or `body`.
  func visitRows(
    at references: [RowReference],
    _ body: (RowReference, RawSpan) throws -> Void
  ) throws

  /// The rows that have unique keys.
  ///
  /// - Parameters:
  ///   - keys: The keys.
  ///   - constraint: The constraint that they are keys of.
  /// - Returns: The row of each, by its number; ``RowReference/none`` where there is none.
  /// - Throws: What reading throws, or making an index.
  func rows(
    having keys: KeyList,
    of constraint: UniquenessConstraint
  ) throws -> [RowReference]
}

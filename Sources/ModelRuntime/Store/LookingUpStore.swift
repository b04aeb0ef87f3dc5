package import RowFormat

/// A store that finds single rows, and rows by the values an expression names, without being told a class of the program.
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

  /// The newest version of a row, or `nil` if there is none.
  func row(at reference: RowReference) throws -> FetchedRow?
}

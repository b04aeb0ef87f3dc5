package import RowFormat

/// A predicate compiled for the rows of one entity.
///
/// Offsets, constants and operators are bound once, into closures; testing a row then reads the bytes it
/// needs and nothing else. A filter belongs to one thread and one state of the store.
package struct RowFilter {
  private let test: RowTest
  private let scope = QueryScope()

  /// Prepares an expression.
  ///
  /// - Parameters:
  ///   - expression: The predicate.
  ///   - descriptor: The class of the tested rows; a subclass needs its own filter.
  ///   - resolver: Answers about other rows.
  package init(
    _ expression: QueryExpression,
    descriptor: ModelDescriptor,
    resolver: any RowResolver
  ) {
    test = ExpressionCompiler(resolver: resolver, levels: [descriptor]).test(expression)
  }

  /// Whether a row matches.
  ///
  /// - Parameters:
  ///   - row: The row's bytes, in the layout of the filter's descriptor.
  ///   - reference: The row's name.
  /// - Returns: Whether it matches; a row on which the user's code would fail does not.
  /// - Throws: An error of the resolver.
  package func matches(_ row: RawSpan, _ reference: RowReference) throws -> Bool {
    do {
      return try test(row, reference, scope)
    } catch is QueryFailure {
      return false
    }
  }
}

/// A search for a constant text in an attribute, which a row passes only if the attribute has a text.
///
/// The search says less than the expression that it is part of where nil is concerned: a text that is unwrapped, or taken as
/// empty if there is none, is the same search. Stores find candidates by it.
package struct TextSearch {
  package let question: QueryExpression.TextTest
  package let path: RowPath
  package let reading: ColumnReading
  package let text: String

  /// The attribute that is searched.
  package var column: QueryExpression { .column(path, reading) }
}

extension QueryExpression {
  /// The search that the expression is; `nil` for any other expression.
  package var textSearch: TextSearch? {
    guard case .text(let question, let value, .constant(.text(let text))) = self,
      case .column(let path, let reading)? = value.searchedColumn(for: text),
      reading.kind == .text, reading.enumeration == nil
    else { return nil }
    return TextSearch(question: question, path: path, reading: reading, text: text)
  }

  /// The attribute whose text is searched for another.
  private func searchedColumn(for text: String) -> QueryExpression? {
    switch self {
    case .column: self
    case .unwrapped(let value): value.searchedColumn(for: text)
    // An empty text has no part but the empty one.
    case .coalesce(let value, .constant(.text(""))) where !text.isEmpty:
      value.searchedColumn(for: text)
    default: nil
    }
  }

  /// The test that must hold for the expression to be true, if the expression only says what nil counts as.
  package var requiredTest: QueryExpression? {
    switch self {
    case .ifPresent(_, let test), .coalesce(let test, .constant(.bool(false))),
      .comparison(.equal, let test, .constant(.bool(true)), .bool),
      .comparison(.equal, .constant(.bool(true)), let test, .bool):
      test
    default: nil
    }
  }
}

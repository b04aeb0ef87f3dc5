import RowFormat

extension QueryExpression.Relation {
  /// The test whether a text is in this relation to a constant one.
  ///
  /// - Parameter constant: The constant, on the right-hand side.
  /// - Returns: The test of a text's UTF-8 bytes, with the result of a ``RowFilter`` for a row with that text.
  package func test(of constant: String) -> (RawSpan) -> Bool {
    let pattern = TextPattern(constant)
    return switch self {
    case .equal: { pattern.equals(0..<$0.byteCount, of: $0) }
    case .notEqual: { !pattern.equals(0..<$0.byteCount, of: $0) }
    default: { holds(pattern.order(of: 0..<$0.byteCount, in: $0), 0) }
    }
  }
}

extension QueryExpression.TextTest {
  /// Makes the test of a text with a constant.
  ///
  /// - Parameter constant: The constant, which the text must contain or begin with.
  /// - Returns: The test of a text's UTF-8 bytes, with the result of a ``RowFilter`` for a row with that text.
  package func test(of constant: String) -> (RawSpan) -> Bool {
    let pattern = TextPattern(constant)
    let foldsBytes = pattern.isPrintable && TextPattern.localeFoldsASCII
    let search = self == .localizedStandardContains ? FoldedSearch(constant) : nil
    return switch self {
    case .contains: { pattern.isContained(in: 0..<$0.byteCount, of: $0) }
    case .startsWith: { pattern.isPrefix(of: 0..<$0.byteCount, of: $0) }
    case .localizedStandardContains:
      { text in
        switch search?.answer(for: text) {
        case .contains?: return true
        case .doesNotContain?: return false
        case .unknown?, nil: return holds(pattern.string(0..<text.byteCount, of: text), constant)
        }
      }
    case .equalsIgnoringCase:
      { text in
        let range = 0..<text.byteCount
        if foldsBytes, let answer = pattern.equalsFolded(range, of: text) { return answer }
        return holds(pattern.string(range, of: text), constant)
      }
    }
  }
}

extension QueryExpression.TextTest {
  /// The substring, ignoring case, that a text of printable ASCII must contain to pass the test.
  ///
  /// It does not apply to other texts.
  ///
  /// - Parameter constant: The constant of the test.
  /// - Returns: Printable ASCII, not empty; `nil` if bytes cannot decide because of the user's language or the constant.
  package func necessaryASCII(of constant: String) -> String? {
    let bytes: [UInt8]?
    switch self {
    case .contains, .startsWith: return nil
    case .localizedStandardContains: bytes = FoldedSearch(constant)?.pattern
    case .equalsIgnoringCase:
      let pattern = TextPattern(constant)
      bytes = pattern.isPrintable && TextPattern.localeFoldsASCII ? pattern.utf8 : nil
    }
    return bytes.map { String(decoding: $0, as: UTF8.self) }
  }
}

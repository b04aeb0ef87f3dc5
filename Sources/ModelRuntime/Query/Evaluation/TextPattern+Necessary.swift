extension QueryExpression.TextTest {
  /// What a text of printable ASCII has to contain, but for the case of its letters, to answer the question about it with yes.
  ///
  /// It says nothing of other texts.
  ///
  /// - Parameter constant: The constant that the question is asked with.
  /// - Returns: Printable ASCII, not empty; `nil` if the user's language, or the constant, does not let bytes tell.
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

/// An error in words.
///
/// Parts without information are `nil`. None ends with a full stop, so that they can be put on lines of their own or one behind
/// the other.
public struct ErrorExplanation: Hashable, Sendable {
  /// The error itself.
  public var what: String
  /// The place: a file, and the offset in it if that is known.
  public var place: String?
  /// The expected value.
  public var expected: String?
  /// The value found.
  public var found: String?
  /// Advice for the user.
  public var advice: String?

  /// Creates an explanation from its known parts.
  public init(
    _ what: String,
    place: String? = nil,
    expected: String? = nil,
    found: String? = nil,
    advice: String? = nil
  ) {
    self.what = what
    self.place = place
    self.expected = expected
    self.found = found
    self.advice = advice
  }
}

extension ErrorExplanation: CustomStringConvertible {
  /// All parts on one line, for a log.
  public var description: String {
    var text = what
    if let place { text += " (\(place))" }
    let comparison = [expected.map { "expected \($0)" }, found.map { "found \($0)" }]
      .compactMap(\.self)
    if !comparison.isEmpty { text += ": " + comparison.joined(separator: ", ") }
    if let advice { text += "; \(advice)" }
    return text
  }
}

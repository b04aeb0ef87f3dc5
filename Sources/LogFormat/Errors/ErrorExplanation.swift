/// An error in words.
///
/// Parts that would say nothing are `nil`. None ends with a full stop, so that they can be put on lines of
/// their own or one behind the other.
public struct ErrorExplanation: Hashable, Sendable {
  /// What happened.
  public var what: String
  /// Where: a file, and the offset in it if that is known.
  public var place: String?
  /// What should have been there.
  public var expected: String?
  /// What was there.
  public var found: String?
  /// What to try.
  public var advice: String?

  /// Makes an explanation of the parts that are known.
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
  /// All of it on one line, for a log.
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

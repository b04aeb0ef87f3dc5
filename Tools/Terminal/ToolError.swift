/// An end of a command that its user can do something about.
///
/// It says what happened, where, what was expected, what was found, and what to do next, each on a
/// line of its own; parts that would say nothing are left out.
public struct ToolError: Error, CustomStringConvertible, Sendable, Hashable {
  public var what: String
  public var place: String?
  public var expected: String?
  public var found: String?
  public var advice: String?
  public var status: ExitStatus

  public init(
    _ what: String,
    place: String? = nil,
    expected: String? = nil,
    found: String? = nil,
    advice: String? = nil,
    status: ExitStatus = .usage
  ) {
    self.what = what
    self.place = place
    self.expected = expected
    self.found = found
    self.advice = advice
    self.status = status
  }

  public var description: String {
    let parts = [
      ("where", place), ("expected", expected), ("found", found), ("try", advice),
    ]
    return parts.reduce(into: what) { text, part in
      guard let value = part.1 else { return }
      let label = (part.0 + ":").padding(to: 10)
      text += "\n  \(label)\(value.replacing("\n", with: "\n            "))"
    }
  }
}

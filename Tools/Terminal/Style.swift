/// The style of a piece of text on a terminal.
public enum Style: String, Sendable, CaseIterable {
  case bold = "1"
  case faint = "2"
  case red = "31"
  case green = "32"
  case yellow = "33"
  case blue = "34"
  case cyan = "36"

  /// The text between the codes that switch the style on and off.
  public func callAsFunction(_ text: String) -> String {
    "\u{1B}[\(rawValue)m\(text)\u{1B}[0m"
  }
}

import Foundation

/// A text with parts that are made by a program: each between two remarks, which stay.
///
///     <!-- figures: NAME -->
///     what is replaced
///     <!-- end: NAME -->
struct MarkedText {
  private(set) var text: String

  init(_ text: String) { self.text = text }

  /// Replaces a part.
  ///
  /// - Parameters:
  ///   - name: The part.
  ///   - content: Its new content.
  /// - Returns: Whether the text has such a part.
  @discardableResult
  mutating func replace(_ name: String, with content: String) -> Bool {
    guard let begin = text.range(of: "<!-- figures: \(name) -->\n"),
      let end = text.range(of: "<!-- end: \(name) -->"), begin.upperBound <= end.lowerBound
    else { return false }
    text.replaceSubrange(begin.upperBound..<end.lowerBound, with: "\n\(content)\n\n")
    return true
  }
}

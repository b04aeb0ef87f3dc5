/// The possible words at the place where a user pressed the tab key.
public struct Completion: Hashable, Sendable {
  /// A word to insert, and its suffix if it is the only one.
  public struct Candidate: Hashable, Sendable {
    public var text: String
    public var suffix: String

    public init(_ text: String, suffix: String = " ") {
      self.text = text
      self.suffix = suffix
    }
  }

  /// The index of the first character of the line that a candidate replaces; the last is before the cursor.
  public var start: Int
  public var candidates: [Candidate]

  /// Completes the text between a place and the cursor; candidates that control a terminal are left out.
  public init(from start: Int, _ candidates: [Candidate]) {
    self.start = start
    self.candidates = candidates.filter { !$0.text.unicodeScalars.contains(where: \.isControl) }
  }

  /// No candidates.
  public static var none: Completion { Completion(from: 0, []) }

  /// The common prefix of all candidates.
  var commonPrefix: String {
    guard var prefix = candidates.first.map({ Array($0.text) }) else { return "" }
    for candidate in candidates.dropFirst() {
      let length = zip(prefix, candidate.text).prefix { $0 == $1 }.count
      prefix.removeLast(prefix.count - length)
    }
    return String(prefix)
  }

  /// Returns the possible words after the text before the cursor.
  public typealias Source = (_ head: String) -> Completion
}

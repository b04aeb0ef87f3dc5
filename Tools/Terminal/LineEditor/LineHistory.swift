/// Lines that were entered, oldest first: no line twice, and no more than a limit.
public struct LineHistory: Hashable, Sendable {
  public private(set) var lines: [String] = []
  public let limit: Int

  public init(limit: Int = 1000) {
    precondition(limit > 0, "a history of \(limit) lines")
    self.limit = limit
  }

  /// Reads a history from the text of a file: a line each.
  public init(text: String, limit: Int = 1000) {
    self.init(limit: limit)
    // Of equal lines the last counts, and adding one removes those before it.
    for line in text.split(whereSeparator: \.isNewline).suffix(limit * 2) { add(String(line)) }
  }

  /// The text of a file that keeps the history.
  public var text: String { lines.map { $0 + "\n" }.joined() }

  /// Adds a line; an equal one before it goes.
  ///
  /// Lines that are blank or have control characters are not kept: they would not be read as what they were.
  public mutating func add(_ line: String) {
    guard line.contains(where: { !$0.isWhitespace }),
      !line.unicodeScalars.contains(where: \.isControl)
    else { return }
    lines.removeAll { $0 == line }
    lines.append(line)
    if lines.count > limit { lines.removeFirst(lines.count - limit) }
  }

  /// The newest line before a place that contains a text.
  func lastIndex(of text: String, before end: Int) -> Int? {
    lines[..<min(end, lines.count)].lastIndex { $0.contains(text) }
  }
}

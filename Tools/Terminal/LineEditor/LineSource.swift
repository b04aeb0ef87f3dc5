/// The result of asking for a line.
public enum LineEntry: Hashable, Sendable {
  case line(String)
  /// The user cancelled the line.
  case abandoned
  /// There are no further lines.
  case end
}

/// The source of the lines that a command works on.
public protocol LineSource: AnyObject {
  /// Whether a user types the lines, and reads the results of each.
  var isInteractive: Bool { get }
  /// Lines that were remembered, oldest first.
  var history: LineHistory { get }
  /// The columns and lines of the terminal; `nil` if there is none.
  var size: (columns: Int, rows: Int)? { get }
  /// Whether a user asked for the current work to stop.
  var isInterrupted: Bool { get }

  /// Waits for the next line.
  ///
  /// - Parameters:
  ///   - prompt: Printable text that asks for it.
  ///   - complete: Returns the possible words at the cursor.
  /// - Returns: The line, or the reason why there is none.
  func next(_ prompt: String, completing complete: @escaping Completion.Source) -> LineEntry

  /// Keeps a line for the next time.
  func remember(_ line: String)

  /// Begins something that can be interrupted.
  func clearInterruption()
}

extension LineSource {
  public var isInteractive: Bool { false }
  public var history: LineHistory { LineHistory() }
  public var size: (columns: Int, rows: Int)? { nil }
  public var isInterrupted: Bool { false }
  public func remember(_ line: String) {}
  public func clearInterruption() {}
}

/// Lines that are known from the start.
public final class TextLines: LineSource {
  private var lines: [String]

  public init(_ lines: [String]) { self.lines = lines.reversed() }

  /// The lines of a text, whichever way they end.
  public convenience init(text: String) {
    var lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    if lines.last?.isEmpty ?? false { lines.removeLast() }
    self.init(lines.map(String.init))
  }

  public func next(_: String, completing _: @escaping Completion.Source) -> LineEntry {
    lines.popLast().map(LineEntry.line) ?? .end
  }
}

/// The lines of standard input, as they come.
public final class StandardInputLines: LineSource {
  public init() {}

  public func next(_: String, completing _: @escaping Completion.Source) -> LineEntry {
    readLine().map(LineEntry.line) ?? .end
  }
}
